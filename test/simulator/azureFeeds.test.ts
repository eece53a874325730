import { afterEach, describe, expect, it } from '@jest/globals';
import { createInterface } from 'node:readline';

import { startAzureSimulator } from '../../simulator/azure/azureSimulator.js';
import {
  apiVersion,
  armErrorOf,
  connectionEnd,
  computePath,
  nodeModel,
  openRaw,
  operationPhase,
  raw,
  resourceGroup,
  sdkClient,
  startSimulator,
  stopSimulators,
  subscriptionId,
  token,
} from './azureHarness.js';

afterEach(stopSimulators);

async function* linesOf(stream: NodeJS.ReadableStream): AsyncGenerator<unknown, undefined> {
  for await (const line of createInterface({ input: stream })) yield JSON.parse(line);
  return undefined;
}

describe('the machine feed', () => {
  it('tells of the machines that run, then of each start and stop', async () => {
    const simulator = await startSimulator();
    simulator.seedVirtualMachine(resourceGroup, 'old', nodeModel('old', { zones: undefined }));
    const response = await openRaw(simulator, '/_simulator/machines');
    const lines = linesOf(response);
    expect((await lines.next()).value).toEqual({
      type: 'started',
      name: 'old',
      resourceId: `${computePath}/old`,
      vmId: expect.any(String),
      location: 'westus2',
      vmSize: 'Standard_D4s_v5',
      tags: { 'karpenter.sh_nodepool': 'general-purpose' },
      customData: 'Ym9vdHN0cmFw',
      at: expect.any(Number),
    });

    const { virtualMachines } = sdkClient(simulator);
    await virtualMachines.createOrUpdate(resourceGroup, 'vm', nodeModel('vm')).submitted();
    const { value: started } = await lines.next();
    expect(started).toMatchObject({ type: 'started', name: 'vm', zone: 'westus2-1' });
    const { vmId } = await virtualMachines.get(resourceGroup, 'vm');
    expect(started).toMatchObject({ vmId });

    await virtualMachines.delete(resourceGroup, 'vm').submitted();
    expect((await lines.next()).value).toEqual({ type: 'stopped', name: 'vm', vmId, at: expect.any(Number) });
    response.destroy();
  });

  it('starts for a late subscriber with what runs then', async () => {
    const simulator = await startSimulator();
    for (const name of ['a', 'b']) simulator.seedVirtualMachine(resourceGroup, name, nodeModel(name));
    await sdkClient(simulator).virtualMachines.delete(resourceGroup, 'a').submitted();
    const response = await openRaw(simulator, '/_simulator/machines');
    expect((await linesOf(response).next()).value).toMatchObject({ type: 'started', name: 'b' });
    response.destroy();
  });

  it('wants the token, and ends when the simulator is closed', async () => {
    const simulator = await startSimulator();
    const refused = await raw(simulator, '/_simulator/machines', { bearer: 'wrong' });
    expect(refused.status).toBe(401);
    const unknown = await raw(simulator, '/_simulator/none');
    expect([unknown.status, armErrorOf(unknown).code]).toEqual([404, 'NotFound']);
    const response = await openRaw(simulator, '/_simulator/machines');
    const ended = connectionEnd(response);
    await simulator.close();
    await ended;
  });
});

describe('the audit log', () => {
  it('tells of a life in order, over HTTPS too, without tokens, queries or bodies', async () => {
    const simulator = await startSimulator();
    const { virtualMachines } = sdkClient(simulator);
    const poller = virtualMachines.createOrUpdate(resourceGroup, 'vm', nodeModel('vm'));
    await poller.submitted();
    await operationPhase(simulator, 'create', 'succeeded');
    await poller.poll();
    await virtualMachines.delete(resourceGroup, 'vm').submitted();
    await operationPhase(simulator, 'delete', 'succeeded');

    const { body } = await raw(simulator, '/_simulator/audit');
    const entries = body
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    expect(entries).toEqual(JSON.parse(JSON.stringify(simulator.audit.entries)));
    expect(entries).toMatchObject([
      { kind: 'resource', type: 'virtualMachine', name: 'vm', change: 'created' },
      { kind: 'resource', type: 'networkInterface', name: 'vm-nic', change: 'created' },
      { kind: 'resource', type: 'disk', name: 'vm', change: 'created' },
      { kind: 'operation', operation: 'create', virtualMachine: 'vm', phase: 'started' },
      { kind: 'request', method: 'PUT', path: `${computePath}/vm`, virtualMachine: 'vm', status: 201 },
      { kind: 'operation', operation: 'create', phase: 'succeeded' },
      { kind: 'machine', virtualMachine: 'vm', state: 'started' },
      { kind: 'request', method: 'GET', virtualMachine: 'vm', status: 200 },
      { kind: 'request', method: 'GET', path: `${computePath}/vm`, status: 200 },
      { kind: 'machine', virtualMachine: 'vm', state: 'stopped' },
      { kind: 'operation', operation: 'delete', phase: 'started' },
      { kind: 'request', method: 'DELETE', virtualMachine: 'vm', status: 202 },
      { kind: 'operation', operation: 'delete', phase: 'succeeded' },
      { kind: 'resource', type: 'virtualMachine', change: 'deleted' },
      { kind: 'resource', type: 'networkInterface', change: 'deleted' },
      { kind: 'resource', type: 'disk', change: 'deleted' },
    ]);
    expect(body).toContain('azsdk-js');
    expect(body).not.toContain(token);
    expect(body).not.toContain(apiVersion);
    expect(body).not.toContain('Ym9vdHN0cmFw');
    const instants = simulator.audit.entries.map(({ at }) => at);
    expect(instants).toEqual(instants.toSorted((one, other) => one - other));
  });
});

describe('a simulator', () => {
  it('does nothing any more once it is closed', async () => {
    const simulator = await startSimulator({ vmCreateMs: 1_000 });
    await sdkClient(simulator).virtualMachines.createOrUpdate(resourceGroup, 'vm', nodeModel('vm')).submitted();
    await simulator.close();
    const entries = simulator.audit.entries.length;
    const other = await startSimulator({ vmCreateMs: 2_000 });
    await sdkClient(other).virtualMachines.createOrUpdate(resourceGroup, 'vm', nodeModel('vm')).submitted();
    await operationPhase(other, 'create', 'succeeded');
    expect(simulator.audit.entries).toHaveLength(entries);
  });

  it('cannot have a port that is taken, and refuses a speed that is none', async () => {
    const simulator = await startSimulator();
    const port = Number(new URL(simulator.endpoint).port);
    await expect(startSimulator({ port })).rejects.toThrow('EADDRINUSE');
    const options = { subscriptionId, resourceGroups: [resourceGroup], location: 'westus2', token };
    await expect(startAzureSimulator({ ...options, speed: 0, vmCreateMs: 1, vmDeleteMs: 1 })).rejects.toThrow('speed');
  });
});
