import { restorePoller } from '@azure/arm-compute';
import { afterEach, describe, expect, it } from '@jest/globals';

import {
  armErrorOf,
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

const longMs = 3_600_000;

describe('creating a virtual machine', () => {
  it('is followed to its end by another client that only has the resume token', async () => {
    const simulator = await startSimulator({ vmCreateMs: 200_000 });
    const poller = sdkClient(simulator).virtualMachines.createOrUpdate(resourceGroup, 'vm', nodeModel('vm'));
    await poller.submitted();
    const resumeToken = await poller.serialize();

    const other = sdkClient(simulator);
    const restored = restorePoller(other, resumeToken, other.virtualMachines.createOrUpdate);
    await restored.poll();
    expect(restored.isDone).toBe(false);
    expect((await other.virtualMachines.get(resourceGroup, 'vm')).provisioningState).toBe('Creating');

    await operationPhase(simulator, 'create', 'succeeded');
    await restored.poll();
    expect(restored.isDone).toBe(true);
    expect(restored.result).toMatchObject({
      name: 'vm',
      provisioningState: 'Succeeded',
      zones: ['1'],
      tags: { 'karpenter.sh_nodepool': 'general-purpose' },
    });
    expect(restored.result?.vmId).toMatch(/^[0-9a-f-]{36}$/);
    expect(restored.result?.timeCreated).toBeInstanceOf(Date);
    expect(restored.result?.osProfile).toEqual({ computerName: 'vm', adminUsername: 'azureuser' });
    expect(resumeToken).not.toContain('a-test-token');
  });

  it('answers 201 with the headers that Azure sends, and paces clients by the simulated Retry-After', async () => {
    const simulator = await startSimulator({ speed: 4, retryAfterSeconds: 10, vmCreateMs: longMs });
    const body = JSON.stringify({
      location: 'West US 2',
      properties: {
        hardwareProfile: { vmSize: 'standard_d2s_v5' },
        networkProfile: {
          networkApiVersion: '2022-11-01',
          networkInterfaceConfigurations: [
            { name: 'nic', properties: { ipConfigurations: [{ name: 'ip', properties: { subnet: { id: '/s' } } }] } },
          ],
        },
      },
    });
    const created = await raw(simulator, `${computePath}/vm?api-version=2024-07-01`, { method: 'PUT', body });
    expect(created.status).toBe(201);
    expect(created.headers).toMatchObject({
      'azure-asyncnotification': 'Enabled',
      'retry-after': '3',
      'retry-after-ms': '2500',
      'x-ms-ratelimit-remaining-resource': 'Microsoft.Compute/PutVM3Min;239,Microsoft.Compute/PutVM30Min;1199',
    });
    expect(created.headers.location).toBeUndefined();
    expect(header(created, 'x-ms-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(header(created, 'x-ms-correlation-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(JSON.parse(created.body)).toMatchObject({
      location: 'westus2',
      properties: { provisioningState: 'Creating', hardwareProfile: { vmSize: 'Standard_D2s_v5' } },
    });

    const operationUrl = header(created, 'azure-asyncoperation');
    expect(operationUrl.length).toBeGreaterThan(1_000);
    const poll = await raw(simulator, operationUrl);
    expect(poll.headers['retry-after-ms']).toBe('2500');
    expect(JSON.parse(poll.body)).toEqual({
      status: 'InProgress',
      startTime: expect.any(String),
      name: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  it('refuses a second one with If-None-Match, whatever the case of its name', async () => {
    const simulator = await startSimulator();
    const client = sdkClient(simulator);
    await client.virtualMachines.createOrUpdate(resourceGroup, 'vm', nodeModel('vm'), { ifNoneMatch: '*' }).submitted();
    const again = client.virtualMachines.createOrUpdate('mc_DEMO', 'VM', nodeModel('vm'), { ifNoneMatch: '*' });
    expect(await rejection(again.submitted())).toMatchObject({ statusCode: 412 });
    expect(simulator.virtualMachines()).toHaveLength(1);
  });

  it.each([
    ['no location', {}, 'LocationRequired'],
    [
      'another location',
      { location: 'eastus', properties: { hardwareProfile: { vmSize: 'Standard_D2s_v5' }, networkProfile: {} } },
      'LocationNotAvailableForResourceType',
    ],
    ['no properties', { location: 'westus2' }, 'InvalidParameter'],
    [
      'an unknown size',
      { location: 'westus2', properties: { hardwareProfile: { vmSize: 'Standard_X1' }, networkProfile: {} } },
      'InvalidParameter',
    ],
    [
      'no network profile',
      { location: 'westus2', properties: { hardwareProfile: { vmSize: 'Standard_D2s_v5' } } },
      'InvalidParameter',
    ],
    [
      'no network interface',
      { location: 'westus2', properties: { hardwareProfile: { vmSize: 'Standard_D2s_v5' }, networkProfile: {} } },
      'InvalidParameter',
    ],
    [
      'a zone that is not there',
      {
        location: 'westus2',
        zones: ['4'],
        properties: { hardwareProfile: { vmSize: 'Standard_D2s_v5' }, networkProfile: {} },
      },
      'InvalidParameter',
    ],
  ])('refuses a body with %s', async (_what, content, code) => {
    const simulator = await startSimulator();
    const body = JSON.stringify(content);
    const answer = await raw(simulator, `${computePath}/vm?api-version=2024-07-01`, { method: 'PUT', body });
    expect(answer.status).toBe(400);
    expect(armErrorOf(answer).code).toBe(code);
    expect(simulator.virtualMachines()).toEqual([]);
  });

  it('refuses a network interface configuration without the API version for it', async () => {
    const simulator = await startSimulator();
    const model = nodeModel('vm');
    const { networkInterfaceConfigurations } = model.networkProfile ?? {};
    const poller = sdkClient(simulator).virtualMachines.createOrUpdate(resourceGroup, 'vm', {
      ...model,
      networkProfile: { networkInterfaceConfigurations },
    });
    expect(await rejection(poller.submitted())).toMatchObject({
      statusCode: 400,
      code: 'InvalidParameter',
      message: expect.stringContaining('networkProfile.networkApiVersion'),
    });
  });
});

describe('updating a virtual machine', () => {
  it('goes by If-Match to the revision that the client has read', async () => {
    const simulator = await startSimulator({ vmCreateMs: 1 });
    simulator.seedVirtualMachine(resourceGroup, 'vm', nodeModel('vm'));
    const { virtualMachines } = sdkClient(simulator);
    const { etag } = await virtualMachines.get(resourceGroup, 'vm');
    const put = (name: string): Promise<void> =>
      virtualMachines.createOrUpdate(resourceGroup, name, nodeModel(name), { ifMatch: etag }).submitted();
    await put('vm');
    await operationPhase(simulator, 'update', 'succeeded');
    expect(await rejection(put('vm'))).toMatchObject({ statusCode: 412 });
    expect(await rejection(put('none'))).toMatchObject({ statusCode: 412 });
  });

  it('changes tags by a short operation, from what GET answered', async () => {
    const simulator = await startSimulator();
    simulator.seedVirtualMachine(resourceGroup, 'vm', nodeModel('vm'));
    const client = sdkClient(simulator);
    const before = await client.virtualMachines.get(resourceGroup, 'vm');
    const poller = client.virtualMachines.createOrUpdate(resourceGroup, 'vm', { ...before, tags: { owner: 'me' } });
    await poller.submitted();
    await operationPhase(simulator, 'update', 'succeeded');
    await poller.poll();
    expect(poller.result).toMatchObject({ tags: { owner: 'me' }, vmId: before.vmId, provisioningState: 'Succeeded' });
    expect(simulator.audit.entries.filter(({ kind }) => kind === 'machine')).toHaveLength(1);
  });

  it('refuses a change of what Azure never changes, and names it', async () => {
    const simulator = await startSimulator();
    simulator.seedVirtualMachine(resourceGroup, 'vm', nodeModel('vm'));
    const model = nodeModel('vm', { osProfile: { computerName: 'vm', customData: 'b3RoZXI=' } });
    const poller = sdkClient(simulator).virtualMachines.createOrUpdate(resourceGroup, 'vm', model);
    expect(await rejection(poller.submitted())).toMatchObject({
      statusCode: 409,
      code: 'PropertyChangeNotAllowed',
      message: expect.stringContaining("'osProfile.customData'"),
    });
  });

  it('says that it does not resize, instead of doing it wrongly', async () => {
    const simulator = await startSimulator();
    simulator.seedVirtualMachine(resourceGroup, 'vm', nodeModel('vm'));
    const model = nodeModel('vm', { hardwareProfile: { vmSize: 'Standard_D8s_v5' } });
    const poller = sdkClient(simulator).virtualMachines.createOrUpdate(resourceGroup, 'vm', model);
    expect(await rejection(poller.submitted())).toMatchObject({ statusCode: 501, code: 'NotImplemented' });
  });

  it('is refused while another operation runs, and once it is being deleted', async () => {
    const simulator = await startSimulator({ vmCreateMs: longMs, vmDeleteMs: longMs });
    const { virtualMachines } = sdkClient(simulator);
    const put = (): Promise<void> => virtualMachines.createOrUpdate(resourceGroup, 'vm', nodeModel('vm')).submitted();
    await put();
    expect(await rejection(put())).toMatchObject({
      statusCode: 409,
      code: 'OperationNotAllowed',
      message: expect.stringContaining('another operation is in progress'),
    });
    await virtualMachines.delete(resourceGroup, 'vm').submitted();
    expect(await rejection(put())).toMatchObject({
      statusCode: 409,
      code: 'OperationNotAllowed',
      message: expect.stringContaining('marked for deletion'),
    });
  });
});

describe('deleting a virtual machine', () => {
  it('stops the machine at once, takes everything along at the end, and answers 204 afterwards', async () => {
    const simulator = await startSimulator({ vmDeleteMs: 100_000 });
    simulator.seedVirtualMachine(resourceGroup, 'vm', nodeModel('vm'));
    const { virtualMachines } = sdkClient(simulator);
    const poller = virtualMachines.delete(resourceGroup, 'vm');
    await poller.submitted();
    expect((await virtualMachines.get(resourceGroup, 'vm')).provisioningState).toBe('Deleting');
    const stopped = simulator.audit.entries.some((entry) => entry.kind === 'machine' && entry.state === 'stopped');
    expect(stopped).toBe(true);

    await operationPhase(simulator, 'delete', 'succeeded');
    await poller.poll();
    expect(poller.isDone).toBe(true);
    expect(await rejection(virtualMachines.get(resourceGroup, 'vm'))).toMatchObject({
      statusCode: 404,
      code: 'ResourceNotFound',
    });
    expect(simulator.networkInterfaces()).toEqual([]);
    expect(simulator.disks()).toEqual([]);

    const again = virtualMachines.delete(resourceGroup, 'vm');
    await again.submitted();
    expect(again.isDone).toBe(true);
    const answers = simulator.audit.entries.flatMap((entry) =>
      entry.kind === 'request' && entry.method === 'DELETE' ? [entry.status] : [],
    );
    expect(answers).toEqual([202, 204]);
  });

  it('answers 202 with both ways to follow it, and the same operation when asked twice', async () => {
    const simulator = await startSimulator({ vmDeleteMs: longMs });
    simulator.seedVirtualMachine(resourceGroup, 'vm', nodeModel('vm'));
    const url = `${computePath}/vm?api-version=2024-07-01`;
    const first = await raw(simulator, url, { method: 'DELETE' });
    const second = await raw(simulator, url, { method: 'DELETE' });
    expect([first.status, second.status]).toEqual([202, 202]);
    expect(first.body).toBe('');
    expect(header(first, 'location')).toBe(`${header(first, 'azure-asyncoperation')}&monitor=true`);
    expect(header(first, 'azure-asyncoperation')).toBe(header(second, 'azure-asyncoperation'));
    const monitored = await raw(simulator, header(first, 'location'));
    expect(monitored.status).toBe(202);
    expect(header(monitored, 'location')).toContain('monitor=true');
  });

  it('ends the monitored operation with 204', async () => {
    const simulator = await startSimulator();
    simulator.seedVirtualMachine(resourceGroup, 'vm', nodeModel('vm'));
    const accepted = await raw(simulator, `${computePath}/vm?api-version=2024-07-01`, { method: 'DELETE' });
    await operationPhase(simulator, 'delete', 'succeeded');
    expect((await raw(simulator, header(accepted, 'location'))).status).toBe(204);
  });

  it('cancels a creation that still runs: its machine never starts', async () => {
    const simulator = await startSimulator({ vmCreateMs: longMs });
    const { virtualMachines } = sdkClient(simulator);
    const creating = virtualMachines.createOrUpdate(resourceGroup, 'vm', nodeModel('vm'));
    await creating.submitted();
    await virtualMachines.delete(resourceGroup, 'vm').submitted();
    expect(await rejection(creating.poll())).toMatchObject({ message: expect.stringContaining('canceled') });
    expect(await operationPhase(simulator, 'create', 'canceled')).toMatchObject({ code: 'OperationPreempted' });
    await operationPhase(simulator, 'delete', 'succeeded');
    expect(simulator.audit.entries.some(({ kind }) => kind === 'machine')).toBe(false);
    expect(simulator.virtualMachines()).toEqual([]);
  });
});

describe('the instance view', () => {
  it('tells of provisioning, then of the running machine', async () => {
    const simulator = await startSimulator({ vmCreateMs: 100_000 });
    const { virtualMachines } = sdkClient(simulator);
    await virtualMachines.createOrUpdate(resourceGroup, 'vm', nodeModel('vm')).submitted();
    const codes = async (): Promise<readonly (string | undefined)[]> =>
      (await virtualMachines.instanceView(resourceGroup, 'vm')).statuses?.map(({ code }) => code) ?? [];
    expect(await codes()).toEqual([
      'ProvisioningState/creating',
      'ProvisioningState/creating/OSProvisioningInprogress',
    ]);
    await operationPhase(simulator, 'create', 'succeeded');
    expect(await codes()).toEqual(['ProvisioningState/succeeded', 'PowerState/running']);
    const expanded = await virtualMachines.get(resourceGroup, 'vm', { expand: 'instanceView' });
    expect(expanded.instanceView?.statuses?.[1]).toMatchObject({ code: 'PowerState/running', level: 'Info' });
    expect((await virtualMachines.get(resourceGroup, 'vm')).instanceView).toBeUndefined();
  });
});

describe('seeded virtual machines', () => {
  it('run at once, were created long ago, and are what the SDK would have made', async () => {
    const simulator = await startSimulator();
    simulator.seedVirtualMachine('mc_demo', 'vm', nodeModel('vm'));
    const seeded = await sdkClient(simulator).virtualMachines.get(resourceGroup, 'vm', { expand: 'instanceView' });
    expect(seeded.provisioningState).toBe('Succeeded');
    expect(seeded.instanceView?.statuses?.at(-1)?.code).toBe('PowerState/running');
    expect(Number(seeded.timeCreated)).toBeLessThan(Date.now() - 24 * 3_600_000);
    expect(simulator.networkInterfaces()).toHaveLength(1);
    expect(() => {
      simulator.seedVirtualMachine(resourceGroup, 'VM', nodeModel('vm'));
    }).toThrow('exists already');
    expect(() => {
      simulator.seedVirtualMachine('nowhere', 'vm', nodeModel('vm'));
    }).toThrow('unknown resource group nowhere');
  });
});
