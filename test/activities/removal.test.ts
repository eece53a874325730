import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { VirtualMachines } from '../../activities/azure/virtualMachines.js';
import { readConfigMap } from '../../activities/kubernetes/configMaps.js';
import { createNodeClaim, readNodeClaim } from '../../activities/kubernetes/nodeClaims.js';
import { replacementName, virtualMachineName } from '../../karpenter/replacement.js';
import type { Launch } from '../../workflows/replacementTypes.js';
import { eventually } from '../support/eventually.js';
import type { LauncherWorld } from '../support/launcherWorld.js';
import { armRequests, poolName, startLauncherWorld } from '../support/launcherWorld.js';

let world: LauncherWorld;
beforeEach(async () => {
  world = await startLauncherWorld();
});
afterEach(() => world.close());

const name = (): string => replacementName(poolName, world.old.metadata.uid, 0, 0);

function create(): Promise<Launch> {
  return world.attempt(() => world.launcher.createReplacement(world.ref, world.request()));
}

/** A create that is not over before somebody deletes the VM. */
function createForEver(): Promise<Launch> {
  world.azure.addFault({ on: 'createVirtualMachine', then: { kind: 'operationNeverEnds' } });
  return create();
}

/** What the launch ends with. */
async function endOf(launch: Launch): Promise<unknown> {
  return await world.untilDone(() => world.launcher.pollLaunch(world.ref, launch)).catch((error: unknown) => error);
}

/** A create whose operation Azure ends with an error; the VM stays, in state Failed. */
async function failCreate(code: string): Promise<void> {
  const then = { kind: 'operationFails', afterSeconds: 2, code, message: 'said Azure' } as const;
  world.azure.addFault({ on: 'createVirtualMachine', then });
  expect(await endOf(await create())).toMatchObject({ details: [{ code, anotherOffering: true }] });
  expect(world.azure.virtualMachines()).toMatchObject([{ provisioningState: 'Failed' }]);
}

/** Removes the replacement to the end. */
async function remove(): Promise<void> {
  const removal = await world.untilDone(() => world.launcher.beginRemoval(world.ref, { round: 0, attempt: 0 }, false));
  if (removal.kind !== 'deleting') throw new Error(`the removal is ${removal.kind}`);
  await world.untilDone(() => world.launcher.followDeletion(world.ref, removal.deletion));
}

async function expectNothingLeft(): Promise<void> {
  expect(await readNodeClaim(world.environment.kubernetes, name())).toBeUndefined();
  expect([world.azure.virtualMachines(), world.azure.networkInterfaces(), world.azure.disks()]).toEqual([[], [], []]);
}

/** Somebody else deletes the VM. */
async function deleteByHand(virtualMachine: string): Promise<void> {
  await new VirtualMachines(world.arm).beginDelete(virtualMachine);
}

async function gone(): Promise<void> {
  await eventually(() => {
    expect(world.azure.virtualMachines()).toEqual([]);
  });
}

describe('the removal of a replacement', () => {
  it('r079: leaves a NodeClaim alone that is not the replacement, whatever its name and without any NodePool', async () => {
    const { kubernetes } = world.environment;
    const { nodeClassRef } = world.old.spec;
    await createNodeClaim(kubernetes, name(), {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodeClaim',
      metadata: { name: name() },
      spec: { nodeClassRef, requirements: [] },
    });
    const begin = (): Promise<unknown> => world.launcher.beginRemoval(world.ref, { round: 0, attempt: 0 }, false);
    expect(await world.failure(begin)).toMatchObject({ type: 'Refused', nonRetryable: true });
    expect((await readNodeClaim(kubernetes, name()))?.metadata.deletionTimestamp).toBeUndefined();
    expect(armRequests(world, 'DELETE')).toEqual([]);
  });

  it('takes VM, NIC, disk and NodeClaim away', async () => {
    await create();
    const removal = await world.attempt(() => world.launcher.beginRemoval(world.ref, { round: 0, attempt: 0 }, false));
    expect(removal).toMatchObject({ deletion: { nodeClaim: name(), virtualMachine: virtualMachineName(name()) } });
    await remove();
    await expectNothingLeft();
  });

  it('r084: sends DELETE for a create that has failed, and the end of that is its own', async () => {
    await failCreate('InternalExecutionError');
    await remove();
    expect(armRequests(world, 'DELETE').map(({ status }) => status)).toEqual([202]);
    await expectNothingLeft();
  });

  it('r085: ends well for a create that found no room in its zone, which is left alone from then on', async () => {
    await failCreate('OverconstrainedZonalAllocationRequest');
    const marks = { namespace: 'kube-system', name: 'driftless-unavailable-offerings' };
    expect(Object.keys(await readConfigMap(world.cluster.api, marks))).toEqual([
      'Standard_D2as_v5.westus2-1.on-demand',
    ]);
    await remove();
    await expectNothingLeft();
  });

  it.each([204, 404])('r088: ends well when all has been deleted by hand, and DELETE answers %s', async (status) => {
    const { virtualMachine } = await create();
    await deleteByHand(virtualMachine);
    await gone();
    const notFound = { kind: 'requestFails', status: 404, code: 'ResourceNotFound', message: 'not found' } as const;
    if (status === 404) world.azure.addFault({ on: 'deleteVirtualMachine', count: 100, then: notFound });
    await remove();
    expect(armRequests(world, 'DELETE').map((request) => request.status)).toEqual([202, status]);
    await expectNothingLeft();
  });

  it.each(['ResourceGroupNotFound', 'SubscriptionNotFound', ''])(
    'takes no other 404 for the end of a VM: %s',
    async (code) => {
      await create();
      const notFound = { kind: 'requestFails', status: 404, code, message: 'not found' } as const;
      world.azure.addFault({ on: 'deleteVirtualMachine', then: notFound });
      world.azure.addFault({ on: 'getVirtualMachine', then: notFound });
      await remove();
      expect(armRequests(world, 'DELETE').map(({ status }) => status)).toEqual([404, 202]);
      await expectNothingLeft();
    },
  );

  it('r094: takes a create that somebody else’s delete preempted for failed, and a VM that is going for going', async () => {
    const launch = await createForEver();
    await deleteByHand(launch.virtualMachine);
    expect(await endOf(launch)).toMatchObject({
      type: 'LaunchFailed',
      details: [{ code: 'OperationPreempted', message: expect.stringContaining('preempted') }],
    });
    await remove();
    await expectNothingLeft();
  });

  it('r094: nor does it mind that the VM is gone by then', async () => {
    const launch = await createForEver();
    await deleteByHand(launch.virtualMachine);
    await gone();
    expect(await endOf(launch)).toMatchObject({ details: [{ code: 'OperationPreempted' }] });
    await remove();
    await expectNothingLeft();
  });
});
