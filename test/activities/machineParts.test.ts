import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { readNodeClaim, updateNodeClaimStatus } from '../../activities/kubernetes/nodeClaims.js';
import { createSweepActivities } from '../../activities/sweep.js';
import { ownerAnnotation, workflowAnnotation } from '../../karpenter/labels.js';
import { replacementName, virtualMachineName } from '../../karpenter/replacement.js';
import type { AzureFault } from '../../simulator/azure/faults.js';
import { simulatedAzure } from '../../simulator/options.js';
import type { Deletion } from '../../workflows/replacementTypes.js';
import type { SweepReport } from '../../workflows/sweepTypes.js';
import { nodeModel } from '../simulator/azureHarness.js';
import { eventually } from '../support/eventually.js';
import type { LauncherWorld } from '../support/launcherWorld.js';
import { noneStuck, poolName, startLauncherWorld } from '../support/launcherWorld.js';

const node = 'aks-old';
/** So often a NIC is reserved that comes free after 180 s, as often as it is asked for. */
const refusals = 6;

let world: LauncherWorld;
beforeEach(async () => {
  world = await startLauncherWorld();
});
afterEach(() => world.close());

/** The names of what there is at Azure. */
function left(): readonly (readonly string[])[] {
  const { azure } = world;
  return [azure.virtualMachines(), azure.networkInterfaces(), azure.disks()].map((some) =>
    some.map(({ name }) => name),
  );
}

/** A VM that leaves its NIC and OS disk behind. */
function seedDetaching(name: string, nic: string): void {
  const { networkProfile, storageProfile, ...model } = nodeModel(name);
  const [configuration] = networkProfile?.networkInterfaceConfigurations ?? [];
  if (configuration === undefined || storageProfile?.osDisk === undefined) throw new Error('the model lacks a part');
  world.azure.seedVirtualMachine(simulatedAzure.resourceGroup, name, {
    ...model,
    storageProfile: { ...storageProfile, osDisk: { ...storageProfile.osDisk, deleteOption: 'Detach' } },
    networkProfile: { networkInterfaceConfigurations: [{ ...configuration, name: nic, deleteOption: 'Detach' }] },
  });
}

async function seedOldNode(nic: string): Promise<void> {
  const { cluster, environment, old, ref } = world;
  seedDetaching(node, nic);
  const providerID = environment.virtualMachines.providerId(node);
  await updateNodeClaimStatus(cluster.api, ref.nodeClaim, old.metadata.uid, () => ({ providerID }));
  const annotations = { [ownerAnnotation]: environment.owner, [workflowAnnotation]: ref.workflowId };
  await cluster.send('PATCH', `/api/v1/nodes/${node}`, { metadata: { annotations } });
}

/** What a VM of that name has left behind, whoever deleted it. */
async function leaveParts(virtualMachine: string): Promise<void> {
  seedDetaching(virtualMachine, virtualMachine);
  const { virtualMachines } = world.environment;
  await virtualMachines.beginDelete(virtualMachine);
  await untilGone(virtualMachine);
}

async function untilGone(virtualMachine: string): Promise<void> {
  const { virtualMachines } = world.environment;
  await eventually(async () => {
    expect(await virtualMachines.get(virtualMachine)).toBeUndefined();
  });
}

function refusal(status: number, code: string): AzureFault['then'] {
  return { kind: 'requestFails', status, code, message: `refused: ${code}` };
}

async function beginRemoval(): Promise<Deletion> {
  const removal = await world.attempt(() => world.launcher.beginRemoval(world.ref, { round: 0, attempt: 0 }, false));
  if (removal.kind !== 'deleting') throw new Error(`the removal is ${removal.kind}`);
  return removal.deletion;
}

function replacementExists(): Promise<boolean> {
  const name = replacementName(poolName, world.old.metadata.uid, 0, 0);
  return readNodeClaim(world.cluster.api, name).then((nodeClaim) => nodeClaim !== undefined);
}

function sweep(mode: 'report' | 'delete'): Promise<SweepReport> {
  const { environment } = world;
  const settings = { mode, minAgeMs: -60_000, maxDeletions: 10 };
  const noneRuns = (): Promise<boolean> => Promise.resolve(false);
  const activities = createSweepActivities(environment, noneRuns, environment.virtualMachines, settings, noneStuck);
  return world.attempt(() => activities.sweep({ cluster: environment.clusterId }));
}

describe('the deletion of a node', () => {
  it('r106: takes the NIC and the disk that its VM leaves behind, whatever the NIC is called', async () => {
    await seedOldNode('a-nic-of-another-name');
    const deletion = await world.attempt(() => world.launcher.beginDeletion(world.ref, null));
    await world.untilDone(() => world.launcher.followDeletion(world.ref, deletion));
    expect(left()).toEqual([[], [], []]);
    expect(await readNodeClaim(world.cluster.api, 'old')).toBeUndefined();
  });

  it('r121: takes NIC and disk by their names when the VM is gone already, each on its own', async () => {
    await seedOldNode(node);
    await leaveParts('aks-somebody-elses');
    await world.environment.virtualMachines.beginDelete(node);
    await untilGone(node);
    world.azure.addFault({ on: 'deleteNetworkInterface', count: refusals, then: refusal(500, 'InternalServerError') });

    const deletion = await world.attempt(() => world.launcher.beginDeletion(world.ref, null));
    expect(deletion.resumeToken).toBeNull();
    await world.untilDone(() => world.launcher.followDeletion(world.ref, deletion));
    expect(left()).toEqual([[], ['aks-somebody-elses'], ['aks-somebody-elses']]);
    const gone = world.azure.audit.entries.flatMap((entry) =>
      entry.kind === 'resource' && entry.change === 'deleted' && entry.name === node ? [entry.type] : [],
    );
    expect(gone).toEqual(['virtualMachine', 'disk', 'networkInterface']);
  });
});

describe('the removal of a replacement whose create was refused', () => {
  it('r103, r107: leaves no NIC, and asks for no list to find it', async () => {
    world.azure.addFault({ on: 'createVirtualMachine', then: refusal(409, 'SkuNotAvailable') });
    await world.failure(() => world.launcher.createReplacement(world.ref, world.request()));
    // As where a NIC is made before its VM.
    await leaveParts(virtualMachineName(replacementName(poolName, world.old.metadata.uid, 0, 0)));
    const deletion = await beginRemoval();
    await world.untilDone(() => world.launcher.followDeletion(world.ref, deletion));
    expect(left()).toEqual([[], [], []]);
    const lists = world.azure.audit.entries.filter(
      (entry) => entry.kind === 'request' && /(networkInterfaces|disks|virtualMachines)$/i.test(entry.path),
    );
    expect(lists).toEqual([]);
  });

  it('r104: goes on while Azure keeps the NIC for a VM that never was, and is not done before', async () => {
    world.azure.addFault({ on: 'createVirtualMachine', then: refusal(409, 'SkuNotAvailable') });
    await world.failure(() => world.launcher.createReplacement(world.ref, world.request()));
    await leaveParts(virtualMachineName(replacementName(poolName, world.old.metadata.uid, 0, 0)));
    const then = refusal(400, 'NicReservedForAnotherVm');
    world.azure.addFault({ on: 'deleteNetworkInterface', count: refusals, then });
    const deletion = await beginRemoval();
    for (let attempt = 0; attempt < refusals; attempt += 1) {
      const waiting = await world.failure(() => world.launcher.followDeletion(world.ref, deletion));
      expect(waiting).toMatchObject({ type: 'Waiting', message: expect.stringContaining('NicReservedForAnotherVm') });
      expect(await replacementExists()).toBe(true);
    }
    await world.untilDone(() => world.launcher.followDeletion(world.ref, deletion));
    expect(left()).toEqual([[], [], []]);
    expect(await replacementExists()).toBe(false);
  });

  it('r104: is brought to its end by a sweep when nobody goes on with it, NIC and disk first', async () => {
    world.azure.addFault({ on: 'createVirtualMachine', then: refusal(409, 'SkuNotAvailable') });
    await world.failure(() => world.launcher.createReplacement(world.ref, world.request()));
    const name = virtualMachineName(replacementName(poolName, world.old.metadata.uid, 0, 0));
    await leaveParts(name);
    await beginRemoval();
    const actions = async (mode: 'report' | 'delete'): Promise<string[]> =>
      (await sweep(mode)).findings.map(({ kind, action }) => `${kind} ${action}`);
    expect(await actions('report')).toEqual(['deletion reported']);
    expect(left()).toEqual([[], [name], [name]]);
    expect(await actions('delete')).toEqual(['deletion deleting']);
    await eventually(() => {
      expect(left()).toEqual([[], [], []]);
    });
    expect(await actions('report')).toEqual(['deletion removed']);
    expect(await replacementExists()).toBe(false);
  });
});
