import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { readNodeClaim } from '../../activities/kubernetes/nodeClaims.js';
import { readNode } from '../../activities/kubernetes/nodes.js';
import type { IsWorkflowRunning } from '../../activities/sweep.js';
import { createSweepActivities } from '../../activities/sweep.js';
import { disruptedTaint, ownerAnnotation, workflowAnnotation } from '../../karpenter/labels.js';
import { disruption } from '../../karpenter/replacement.js';
import type { Launch } from '../../workflows/replacementTypes.js';
import type { SweepReport } from '../../workflows/sweepTypes.js';
import type { LauncherWorld } from '../support/launcherWorld.js';
import { startLauncherWorld } from '../support/launcherWorld.js';

const node = 'aks-old';
let world: LauncherWorld;
let launch: Launch;

/** What a replacement that was terminated leaves behind: a taint, and a replacement that nobody waits for. */
beforeEach(async () => {
  world = await startLauncherWorld();
  const { cluster, environment, ref } = world;
  launch = await world.attempt(() => world.launcher.createReplacement(world.ref, world.request()));
  const annotations = { [ownerAnnotation]: environment.owner, [workflowAnnotation]: ref.workflowId };
  await cluster.send('PATCH', `/api/v1/nodes/${node}`, { metadata: { annotations }, spec: { taints: [disruption] } });
});
afterEach(() => world.close());

function sweep(isRunning: IsWorkflowRunning): Promise<SweepReport> {
  const { environment } = world;
  const settings = { mode: 'delete', minAgeMs: -60_000, maxDeletions: 10 } as const;
  const activities = createSweepActivities(environment, isRunning, environment.virtualMachines, settings);
  return world.attempt(() => activities.sweep({ cluster: environment.clusterId }));
}

async function taints(): Promise<string[]> {
  return ((await readNode(world.cluster.api, node))?.spec?.taints ?? []).map(({ key }) => key);
}

async function isBeingDeleted(): Promise<boolean> {
  const nodeClaim = await readNodeClaim(world.cluster.api, launch.nodeClaim);
  return nodeClaim?.metadata.deletionTimestamp !== undefined;
}

describe('a sweep', () => {
  it('takes away what no workflow looks after', async () => {
    const { findings } = await sweep(() => Promise.resolve(false));
    expect(findings.map(({ kind, action }) => `${kind} ${action}`)).toEqual(['taint removed', 'nodeClaim removed']);
    expect(await taints()).not.toContain(disruptedTaint);
    expect(await isBeingDeleted()).toBe(true);
  });

  it('leaves alone what the next run of the same replacement has taken up since the look', async () => {
    let asked = 0;
    const { findings } = await sweep(() => {
      asked += 1;
      return Promise.resolve(asked > 1);
    });
    expect(asked).toBe(3);
    expect(findings).toEqual([]);
    expect(await taints()).toContain(disruptedTaint);
    expect(await isBeingDeleted()).toBe(false);
  });

  it('leaves a VM alone whose NodeClaim has come since the look', async () => {
    const machines = {
      list: () =>
        Promise.resolve([
          { name: 'aks-lost', owner: 'owner', nodeClaim: 'lost', createdAt: '2026-01-01T00:00:00Z' },
          { name: 'aks-late', owner: 'owner', nodeClaim: 'late', createdAt: '2026-01-01T00:00:00Z' },
        ]),
      deleted: new Array<string>(),
      async beginDelete(name: string): Promise<void> {
        this.deleted.push(name);
        // The first deletion takes its time: meanwhile the other VM's NodeClaim is made.
        await world.cluster.send('POST', '/apis/karpenter.sh/v1/nodeclaims', {
          apiVersion: 'karpenter.sh/v1',
          kind: 'NodeClaim',
          metadata: { name: 'late' },
          spec: { nodeClassRef: world.old.spec.nodeClassRef, requirements: [] },
        });
      },
    };
    const settings = { mode: 'delete', minAgeMs: 0, maxDeletions: 10 } as const;
    const activities = createSweepActivities(world.environment, () => Promise.resolve(true), machines, settings);
    await world.attempt(() => activities.sweep({ cluster: world.environment.clusterId }));
    expect(machines.deleted).toEqual(['aks-lost']);
  });
});
