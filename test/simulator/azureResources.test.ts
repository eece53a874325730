import { afterEach, describe, expect, it } from '@jest/globals';

import {
  armErrorOf,
  auditEntry,
  computePath,
  groupPath,
  header,
  networkPath,
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

const networkVersion = '2024-05-01';

describe('lists of virtual machines', () => {
  it('come by pages, for a resource group and for the subscription', async () => {
    const simulator = await startSimulator();
    for (let index = 0; index < 120; index += 1) {
      simulator.seedVirtualMachine(resourceGroup, `vm-${index}`, nodeModel(`vm-${index}`));
    }
    simulator.seedVirtualMachine('other', 'elsewhere', nodeModel('elsewhere'));
    const { virtualMachines } = sdkClient(simulator);
    const names: (string | undefined)[] = [];
    for await (const { name } of virtualMachines.list(resourceGroup)) names.push(name);
    expect(names).toEqual(Array.from({ length: 120 }, (_, index) => `vm-${index}`));
    const pages: number[] = [];
    for await (const page of virtualMachines.listAll().byPage()) pages.push(page.length);
    expect(pages).toEqual([50, 50, 21]);
  });

  it('miss nothing when virtual machines go away between two pages', async () => {
    const simulator = await startSimulator();
    for (let index = 0; index < 60; index += 1) {
      simulator.seedVirtualMachine(resourceGroup, `vm-${index}`, nodeModel(`vm-${index}`));
    }
    const { virtualMachines } = sdkClient(simulator);
    const pages = virtualMachines.list(resourceGroup).byPage();
    await pages.next();
    await virtualMachines.delete(resourceGroup, 'vm-0').submitted();
    await operationPhase(simulator, 'delete', 'succeeded', 'vm-0');
    const second: unknown = await pages.next();
    expect(second).toMatchObject({ value: { length: 10, 0: { name: 'vm-50' } } });
  });

  it('hold a thousand virtual machines', async () => {
    const simulator = await startSimulator();
    const names = Array.from({ length: 1_000 }, (_, index) => `vm-${index}`);
    for (const name of names) simulator.seedVirtualMachine(resourceGroup, name, nodeModel(name));
    let count = 0;
    for await (const { provisioningState } of sdkClient(simulator).virtualMachines.listAll()) {
      if (provisioningState === 'Succeeded') count += 1;
    }
    expect(count).toBe(1_000);
  });
});

describe('network interfaces', () => {
  const nicUrl = `${networkPath}/vm-nic?api-version=${networkVersion}`;

  it('come with the virtual machine, which refers to them, and cannot be deleted while attached', async () => {
    const simulator = await startSimulator();
    const { virtualMachines } = sdkClient(simulator);
    await virtualMachines.createOrUpdate(resourceGroup, 'vm', nodeModel('vm')).submitted();
    const reference = (await virtualMachines.get(resourceGroup, 'vm')).networkProfile?.networkInterfaces?.[0];
    expect(reference).toEqual({ id: `${networkPath}/vm-nic`, primary: true, deleteOption: 'Delete' });

    const nic = await raw(simulator, nicUrl);
    expect(nic.status).toBe(200);
    expect(JSON.parse(nic.body)).toMatchObject({
      name: 'vm-nic',
      properties: {
        provisioningState: 'Succeeded',
        virtualMachine: { id: `${computePath}/vm` },
        ipConfigurations: [{ properties: { privateIPAddress: expect.any(String) } }],
      },
    });
    const refused = await raw(simulator, nicUrl, { method: 'DELETE' });
    expect(refused.status).toBe(400);
    expect(armErrorOf(refused).code).toBe('NicInUse');
  });

  it('stay after the virtual machine with deleteOption Detach, until they are deleted by themselves', async () => {
    const simulator = await startSimulator();
    const model = nodeModel('vm');
    const [configuration] = model.networkProfile?.networkInterfaceConfigurations ?? [];
    if (configuration === undefined) throw new Error('the model has no network interface');
    simulator.seedVirtualMachine(resourceGroup, 'vm', {
      ...model,
      networkProfile: { networkInterfaceConfigurations: [{ ...configuration, deleteOption: 'Detach' }] },
    });
    await sdkClient(simulator).virtualMachines.delete(resourceGroup, 'vm').submitted();
    await operationPhase(simulator, 'delete', 'succeeded');
    expect(simulator.networkInterfaces()).toEqual([
      { name: 'vm-nic', resourceGroup, provisioningState: 'Succeeded', virtualMachineId: undefined },
    ]);
    const list = await raw(simulator, `${networkPath}?api-version=${networkVersion}`);
    expect(JSON.parse(list.body)).toMatchObject({ value: [{ name: 'vm-nic' }] });

    const accepted = await raw(simulator, nicUrl, { method: 'DELETE' });
    expect(accepted.status).toBe(202);
    expect(header(accepted, 'location')).toContain('/operationResults/');
    await auditEntry(
      simulator,
      (entry) => entry.kind === 'resource' && entry.type === 'networkInterface' && entry.change === 'deleted',
    );
    expect((await raw(simulator, header(accepted, 'location'))).status).toBe(204);
    const missing = await raw(simulator, nicUrl);
    expect(missing.status).toBe(404);
    expect(armErrorOf(missing).code).toBe('NotFound');
    expect((await raw(simulator, nicUrl, { method: 'DELETE' })).status).toBe(204);
  });

  it('are one for each configuration, of which exactly one has to be primary', async () => {
    const simulator = await startSimulator();
    const { networkProfile } = nodeModel('vm');
    const [first] = networkProfile?.networkInterfaceConfigurations ?? [];
    if (first === undefined) throw new Error('the model has no network interface');
    const put = (primary: boolean): Promise<void> => {
      const networkInterfaceConfigurations = [first, { ...first, name: 'second-nic', primary }];
      const model = nodeModel('vm', { networkProfile: { ...networkProfile, networkInterfaceConfigurations } });
      return sdkClient(simulator).virtualMachines.createOrUpdate(resourceGroup, 'vm', model).submitted();
    };
    expect(await rejection(put(true))).toMatchObject({ code: 'VirtualMachineMustHaveOneNetworkInterfaceAsPrimary' });
    expect(simulator.networkInterfaces()).toEqual([]);
    await put(false);
    expect(simulator.networkInterfaces().map(({ name }) => name)).toEqual(['vm-nic', 'second-nic']);
  });

  it('can be referred to by one virtual machine only, when they exist', async () => {
    const simulator = await startSimulator();
    simulator.seedVirtualMachine(resourceGroup, 'vm', nodeModel('vm'));
    const { virtualMachines } = sdkClient(simulator);
    const refer = (nic: string): Promise<void> =>
      virtualMachines
        .createOrUpdate(
          resourceGroup,
          'second',
          nodeModel('second', { networkProfile: { networkInterfaces: [{ id: `${networkPath}/${nic}` }] } }),
        )
        .submitted();
    expect(await rejection(refer('vm-nic'))).toMatchObject({ statusCode: 400, code: 'NicInUse' });
    expect(await rejection(refer('none'))).toMatchObject({ statusCode: 404, code: 'NotFound' });
    expect(simulator.virtualMachines()).toHaveLength(1);
  });
});

describe('disks', () => {
  const diskUrl = `${groupPath}/Microsoft.Compute/disks/vm?api-version=2023-10-02`;

  it('come with the virtual machine and cannot be deleted while attached', async () => {
    const simulator = await startSimulator();
    simulator.seedVirtualMachine(resourceGroup, 'vm', nodeModel('vm'));
    expect(JSON.parse((await raw(simulator, diskUrl)).body)).toMatchObject({
      name: 'vm',
      managedBy: `${computePath}/vm`,
      properties: { diskState: 'Attached' },
    });
    const refused = await raw(simulator, diskUrl, { method: 'DELETE' });
    expect([refused.status, armErrorOf(refused).code]).toEqual([409, 'OperationNotAllowed']);
  });

  it('stay after the virtual machine with deleteOption Detach, until they are deleted by themselves', async () => {
    const simulator = await startSimulator();
    const { storageProfile, ...model } = nodeModel('vm');
    const osDisk = { name: 'vm', createOption: 'FromImage', deleteOption: 'Detach' };
    simulator.seedVirtualMachine(resourceGroup, 'vm', { ...model, storageProfile: { ...storageProfile, osDisk } });
    await sdkClient(simulator).virtualMachines.delete(resourceGroup, 'vm').submitted();
    await operationPhase(simulator, 'delete', 'succeeded');
    expect(simulator.disks()).toEqual([{ name: 'vm', resourceGroup }]);

    const accepted = await raw(simulator, diskUrl, { method: 'DELETE' });
    expect(accepted.status).toBe(202);
    await auditEntry(
      simulator,
      (entry) => entry.kind === 'resource' && entry.type === 'disk' && entry.change === 'deleted',
    );
    const operation = await raw(simulator, header(accepted, 'azure-asyncoperation'));
    expect(JSON.parse(operation.body)).toMatchObject({ status: 'Succeeded' });
    const missing = await raw(simulator, diskUrl);
    expect([missing.status, armErrorOf(missing).code]).toEqual([404, 'ResourceNotFound']);
    expect((await raw(simulator, diskUrl, { method: 'DELETE' })).status).toBe(204);
  });
});
