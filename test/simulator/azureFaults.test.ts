import { restorePoller } from '@azure/arm-compute';
import { afterEach, describe, expect, it } from '@jest/globals';

import type { AzureSimulator } from '../../simulator/azure/azureSimulator.js';
import {
  apiVersion,
  armErrorOf,
  auditEntry,
  computePath,
  header,
  nodeModel,
  operationPhase,
  raw,
  rejection,
  resourceGroup,
  sdkClient,
  startSimulator,
  stopSimulators,
} from './azureHarness.js';

afterEach(stopSimulators);

const vmUrl = `${computePath}/vm?api-version=${apiVersion}`;

async function submitCreate(simulator: AzureSimulator, name = 'vm'): Promise<string> {
  const poller = sdkClient(simulator).virtualMachines.createOrUpdate(resourceGroup, name, nodeModel(name));
  await poller.submitted();
  return poller.serialize();
}

async function pollOnce(simulator: AzureSimulator, resumeToken: string): Promise<void> {
  const client = sdkClient(simulator);
  await restorePoller(client, resumeToken, client.virtualMachines.createOrUpdate).poll();
}

function requestStatuses(simulator: AzureSimulator): readonly unknown[] {
  return simulator.audit.entries.flatMap((entry) => (entry.kind === 'request' ? [entry.status] : []));
}

describe('faults of a request', () => {
  it('refuse it before anything happens, with details and Retry-After', async () => {
    const simulator = await startSimulator({
      speed: 10,
      faults: [
        {
          on: 'createVirtualMachine',
          then: {
            kind: 'requestFails',
            status: 429,
            code: 'OperationNotAllowed',
            message: 'The server rejected the request because too many requests have been received.',
            details: [{ code: 'TooManyRequests', target: 'PutVM3Min', message: '{}' }],
            retryAfterSeconds: 25,
          },
        },
      ],
    });
    const refused = await raw(simulator, vmUrl, { method: 'PUT', body: '{}' });
    expect(refused.status).toBe(429);
    expect(refused.headers).toMatchObject({ 'retry-after': '3', 'retry-after-ms': '2500' });
    expect(armErrorOf(refused)).toMatchObject({
      code: 'OperationNotAllowed',
      details: [{ code: 'TooManyRequests', target: 'PutVM3Min' }],
    });
    expect(simulator.virtualMachines()).toEqual([]);
    await submitCreate(simulator);
    expect(simulator.virtualMachines()).toHaveLength(1);
  });

  it('surface in the SDK with Azure’s code', async () => {
    const simulator = await startSimulator();
    const message = 'The requested size is currently not available in location westus2.';
    simulator.addFault({
      on: 'createVirtualMachine',
      then: { kind: 'requestFails', status: 409, code: 'SkuNotAvailable', message },
    });
    expect(await rejection(submitCreate(simulator))).toMatchObject({ statusCode: 409, code: 'SkuNotAvailable' });
  });

  it('hit the names, the number and the turn that were asked for', async () => {
    const simulator = await startSimulator();
    for (const name of ['blue-1', 'red-1']) simulator.seedVirtualMachine(resourceGroup, name, nodeModel(name));
    simulator.addFault({
      on: 'getVirtualMachine',
      name: '^blue-',
      after: 1,
      count: 2,
      then: { kind: 'requestFails', status: 503, code: 'ServerBusy', message: 'Busy.' },
    });
    const statuses: number[] = [];
    for (const name of ['blue-1', 'red-1', 'blue-1', 'red-1', 'blue-1', 'blue-1']) {
      statuses.push((await raw(simulator, `${computePath}/${name}?api-version=${apiVersion}`)).status);
    }
    expect(statuses).toEqual([200, 200, 503, 200, 503, 200]);
  });

  it.each(['listVirtualMachines', 'deleteVirtualMachine', 'getOperation'] as const)('meet %s', async (on) => {
    const simulator = await startSimulator();
    simulator.seedVirtualMachine(resourceGroup, 'vm', nodeModel('vm'));
    const accepted = await raw(simulator, vmUrl, { method: 'DELETE' });
    simulator.addFault({ on, then: { kind: 'requestFails', status: 500, code: 'InternalError', message: 'Oh.' } });
    const ask = {
      listVirtualMachines: () => raw(simulator, `${computePath}?api-version=${apiVersion}`),
      deleteVirtualMachine: () => raw(simulator, vmUrl, { method: 'DELETE' }),
      getOperation: () => raw(simulator, header(accepted, 'azure-asyncoperation')),
    }[on];
    expect((await ask()).status).toBe(500);
    expect((await ask()).status).toBeLessThan(300);
  });

  it('reset: the socket is destroyed and nothing was done', async () => {
    const simulator = await startSimulator({ faults: [{ on: 'createVirtualMachine', then: { kind: 'reset' } }] });
    expect(await rejection(submitCreate(simulator))).toMatchObject({ code: 'ECONNRESET' });
    expect(simulator.virtualMachines()).toEqual([]);
    expect(requestStatuses(simulator)).toEqual(['reset']);
  });

  it('lostResponse: it was done, and the client cannot know', async () => {
    const simulator = await startSimulator({
      faults: [{ on: 'createVirtualMachine', then: { kind: 'lostResponse' } }],
    });
    expect(await rejection(submitCreate(simulator))).toMatchObject({ code: 'ECONNRESET' });
    await operationPhase(simulator, 'create', 'succeeded');
    const adopted = await sdkClient(simulator).virtualMachines.get(resourceGroup, 'vm');
    expect(adopted.provisioningState).toBe('Succeeded');
  });

  it('hang: there is no answer until the client gives up', async () => {
    const simulator = await startSimulator({ faults: [{ on: 'getVirtualMachine', then: { kind: 'hang' } }] });
    const stopping = new AbortController();
    const asking = sdkClient(simulator).virtualMachines.get(resourceGroup, 'vm', { abortSignal: stopping.signal });
    const failed = rejection(asking);
    expect(await auditEntry(simulator, ({ kind }) => kind === 'request')).toMatchObject({ status: 'hung' });
    stopping.abort();
    expect(await failed).toMatchObject({ name: 'AbortError' });
  });

  it('hang: closing the simulator ends the connection', async () => {
    const simulator = await startSimulator({ faults: [{ on: 'getVirtualMachine', then: { kind: 'hang' } }] });
    const failed = rejection(sdkClient(simulator).virtualMachines.get(resourceGroup, 'vm'));
    await auditEntry(simulator, ({ kind }) => kind === 'request');
    await simulator.close();
    expect(await failed).toMatchObject({ code: 'ECONNRESET' });
  });

  it('delay: the work and its answer come later', async () => {
    const faults = [{ on: 'getVirtualMachine', then: { kind: 'delay', seconds: 20 } }] as const;
    const simulator = await startSimulator({ faults });
    simulator.seedVirtualMachine(resourceGroup, 'vm', nodeModel('vm'));
    await sdkClient(simulator).virtualMachines.get(resourceGroup, 'vm');
    const request = await auditEntry(simulator, ({ kind }) => kind === 'request');
    if (request.kind !== 'request') throw new Error('not a request');
    expect(request.durationMs).toBeGreaterThan(95);
  });
});

describe('faults of an operation', () => {
  const allocationFailed = {
    kind: 'operationFails',
    afterSeconds: 10,
    code: 'ZonalAllocationFailed',
    message: 'Allocation failed. We do not have sufficient capacity in this zone.',
  } as const;

  it('operationFails: the SDK throws, and a Failed virtual machine with its resources remains', async () => {
    const simulator = await startSimulator({ faults: [{ on: 'createVirtualMachine', then: allocationFailed }] });
    const resumeToken = await submitCreate(simulator);
    expect(await operationPhase(simulator, 'create', 'failed')).toMatchObject({ code: 'ZonalAllocationFailed' });
    const thrown = await rejection(pollOnce(simulator, resumeToken));
    expect(thrown).toBeInstanceOf(Error);
    expect(thrown).toMatchObject({ message: expect.stringContaining('ZonalAllocationFailed') });

    const { virtualMachines } = sdkClient(simulator);
    const view = await virtualMachines.instanceView(resourceGroup, 'vm');
    expect(view.statuses).toEqual([
      expect.objectContaining({
        code: 'ProvisioningState/failed/ZonalAllocationFailed',
        level: 'Error',
        message: allocationFailed.message,
      }),
    ]);
    expect(simulator.virtualMachines()).toEqual([{ name: 'vm', resourceGroup, provisioningState: 'Failed' }]);
    expect(simulator.networkInterfaces()).toHaveLength(1);
    expect(simulator.disks()).toHaveLength(1);

    await virtualMachines.delete(resourceGroup, 'vm').submitted();
    await operationPhase(simulator, 'delete', 'succeeded');
    expect(simulator.networkInterfaces()).toEqual([]);
    expect(simulator.disks()).toEqual([]);
    expect(simulator.audit.entries.some(({ kind }) => kind === 'machine')).toBe(false);
  });

  it('operationFails: the machine can come up all the same', async () => {
    const simulator = await startSimulator();
    simulator.addFault({
      on: 'createVirtualMachine',
      then: {
        kind: 'operationFails',
        afterSeconds: 5,
        code: 'OSProvisioningTimedOut',
        message: 'x',
        machineStarts: true,
      },
    });
    await submitCreate(simulator);
    await operationPhase(simulator, 'create', 'failed');
    await auditEntry(simulator, (entry) => entry.kind === 'machine' && entry.state === 'started');
    const view = await sdkClient(simulator).virtualMachines.instanceView(resourceGroup, 'vm');
    expect(view.statuses?.map(({ code }) => code)).toEqual([
      'ProvisioningState/failed/OSProvisioningTimedOut',
      'PowerState/running',
    ]);
  });

  it('operationFails on a deletion: the virtual machine stays, and can be deleted again', async () => {
    const simulator = await startSimulator();
    simulator.seedVirtualMachine(resourceGroup, 'vm', nodeModel('vm'));
    simulator.addFault({ on: 'deleteVirtualMachine', then: { ...allocationFailed, code: 'InternalExecutionError' } });
    const accepted = await raw(simulator, vmUrl, { method: 'DELETE' });
    await operationPhase(simulator, 'delete', 'failed');
    const monitored = await raw(simulator, header(accepted, 'location'));
    expect(armErrorOf(monitored).code).toBe('InternalExecutionError');
    expect(simulator.virtualMachines()).toEqual([{ name: 'vm', resourceGroup, provisioningState: 'Failed' }]);
    await sdkClient(simulator).virtualMachines.delete(resourceGroup, 'vm').submitted();
    await operationPhase(simulator, 'delete', 'succeeded');
    expect(simulator.virtualMachines()).toEqual([]);
  });

  it('operationCanceled: with the code that a deletion would have', async () => {
    const simulator = await startSimulator({
      faults: [{ on: 'createVirtualMachine', then: { kind: 'operationCanceled', afterSeconds: 1 } }],
    });
    const resumeToken = await submitCreate(simulator);
    expect(await operationPhase(simulator, 'create', 'canceled')).toMatchObject({ code: 'OperationPreempted' });
    expect(await rejection(pollOnce(simulator, resumeToken))).toMatchObject({
      message: expect.stringContaining('canceled'),
    });
  });

  it('operationNeverEnds: only a deletion ends it', async () => {
    const simulator = await startSimulator({
      vmCreateMs: 1,
      faults: [{ on: 'createVirtualMachine', name: '^stuck$', then: { kind: 'operationNeverEnds' } }],
    });
    await submitCreate(simulator, 'stuck');
    await submitCreate(simulator, 'fine');
    await operationPhase(simulator, 'create', 'succeeded', 'fine');
    expect(simulator.virtualMachines().map(({ provisioningState }) => provisioningState)).toEqual([
      'Creating',
      'Succeeded',
    ]);
    await sdkClient(simulator).virtualMachines.delete(resourceGroup, 'stuck').submitted();
    await operationPhase(simulator, 'create', 'canceled', 'stuck');
  });

  it('operationGone: its URL answers 404 from the start or from a poll on, while it goes on', async () => {
    const simulator = await startSimulator({ vmCreateMs: 40_000 });
    simulator.addFault({ on: 'createVirtualMachine', name: 'one', then: { kind: 'operationGone' } });
    simulator.addFault({ on: 'getOperation', name: 'two', after: 1, then: { kind: 'operationGone' } });
    const first = await submitCreate(simulator, 'one');
    const second = await submitCreate(simulator, 'two');
    expect(await rejection(pollOnce(simulator, first))).toMatchObject({ statusCode: 404 });
    await pollOnce(simulator, second);
    for (let poll = 0; poll < 2; poll += 1) {
      expect(await rejection(pollOnce(simulator, second))).toMatchObject({ statusCode: 404 });
    }
    await operationPhase(simulator, 'create', 'succeeded', 'one');
    await operationPhase(simulator, 'create', 'succeeded', 'two');
  });

  it('vanish: created, and gone afterwards with all that belongs to it', async () => {
    const simulator = await startSimulator({
      faults: [{ on: 'createVirtualMachine', then: { kind: 'vanish', afterSeconds: 10 } }],
    });
    await submitCreate(simulator);
    await operationPhase(simulator, 'create', 'succeeded');
    await auditEntry(
      simulator,
      (entry) => entry.kind === 'resource' && entry.type === 'disk' && entry.change === 'deleted',
    );
    expect(await rejection(sdkClient(simulator).virtualMachines.get(resourceGroup, 'vm'))).toMatchObject({
      code: 'ResourceNotFound',
    });
    const states = simulator.audit.entries.flatMap((entry) => (entry.kind === 'machine' ? [entry.state] : []));
    expect(states).toEqual(['started', 'stopped']);
    expect(simulator.networkInterfaces()).toEqual([]);
  });

  it('is refused where it could never happen', async () => {
    const simulator = await startSimulator();
    expect(() => {
      simulator.addFault({ on: 'getVirtualMachine', then: { kind: 'operationNeverEnds' } });
    }).toThrow('can only happen on createVirtualMachine or deleteVirtualMachine');
  });

  it('is not used up by a request that was refused', async () => {
    const simulator = await startSimulator({ faults: [{ on: 'createVirtualMachine', then: allocationFailed }] });
    expect((await raw(simulator, vmUrl, { method: 'PUT', body: '{}' })).status).toBe(400);
    await submitCreate(simulator);
    await operationPhase(simulator, 'create', 'failed');
  });

  it('goes together with a fault of the request that starts it', async () => {
    const simulator = await startSimulator({
      faults: [
        { on: 'createVirtualMachine', then: { kind: 'lostResponse' } },
        { on: 'createVirtualMachine', then: allocationFailed },
      ],
    });
    await rejection(submitCreate(simulator));
    await operationPhase(simulator, 'create', 'failed');
  });
});
