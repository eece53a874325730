import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { createNodeClaim, readNodeClaim } from '../../activities/kubernetes/nodeClaims.js';
import { replacementName, virtualMachineName } from '../../karpenter/replacement.js';
import type { LauncherWorld } from '../support/launcherWorld.js';
import { poolName, startLauncherWorld } from '../support/launcherWorld.js';

let world: LauncherWorld;
beforeEach(async () => {
  world = await startLauncherWorld();
});
afterEach(() => world.close());

describe('the removal of a replacement', () => {
  it('r079: leaves a NodeClaim alone that is not the replacement, whatever its name and without any NodePool', async () => {
    const { kubernetes } = world.environment;
    const name = replacementName(poolName, world.old.metadata.uid, 0, 0);
    const { nodeClassRef } = world.old.spec;
    await createNodeClaim(kubernetes, name, {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodeClaim',
      metadata: { name },
      spec: { nodeClassRef, requirements: [] },
    });
    const remove = (): Promise<unknown> => world.launcher.beginRemoval(world.ref, { round: 0, attempt: 0 }, false);
    expect(await world.failure(remove)).toMatchObject({ type: 'Refused', nonRetryable: true });
    expect((await readNodeClaim(kubernetes, name))?.metadata.deletionTimestamp).toBeUndefined();
    const deletes = world.azure.audit.entries.filter((entry) => entry.kind === 'request' && entry.method === 'DELETE');
    expect(deletes).toEqual([]);
  });

  it('takes VM, NIC, disk and NodeClaim away', async () => {
    await world.attempt(() => world.launcher.createReplacement(world.ref, world.request()));
    const removal = await world.attempt(() => world.launcher.beginRemoval(world.ref, { round: 0, attempt: 0 }, false));
    if (removal.kind !== 'deleting') throw new Error(`the removal is ${removal.kind}`);
    const name = replacementName(poolName, world.old.metadata.uid, 0, 0);
    expect(removal.deletion).toMatchObject({ nodeClaim: name, virtualMachine: virtualMachineName(name) });
    await world.untilDone(() => world.launcher.followDeletion(world.ref, removal.deletion));
    expect(await readNodeClaim(world.environment.kubernetes, name)).toBeUndefined();
    expect([world.azure.virtualMachines(), world.azure.networkInterfaces(), world.azure.disks()]).toEqual([[], [], []]);
  });
});
