import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { readNode } from '../../activities/kubernetes/nodes.js';
import { release } from '../../activities/release.js';
import { createSweepActivities } from '../../activities/sweep.js';
import { disruptedTaint, ownerAnnotation, workflowAnnotation } from '../../karpenter/labels.js';
import { disruption } from '../../karpenter/replacement.js';
import type { Others } from '../support/interruptedApi.js';
import { letOthersIn } from '../support/interruptedApi.js';
import type { LauncherWorld } from '../support/launcherWorld.js';
import { noneStuck, startLauncherWorld } from '../support/launcherWorld.js';

const nodePath = '/api/v1/nodes/aks-old';
let world: LauncherWorld;

beforeEach(async () => {
  world = await startLauncherWorld();
  await taint();
});
afterEach(() => world.close());

/** As the replacement of the node has left it. */
async function taint(): Promise<void> {
  const { environment, ref, cluster } = world;
  const annotations = { [ownerAnnotation]: environment.owner, [workflowAnnotation]: ref.workflowId };
  await cluster.send('PATCH', nodePath, { metadata: { annotations }, spec: { taints: [disruption] } });
}

async function label(value: string): Promise<void> {
  await world.cluster.send('PATCH', nodePath, { metadata: { labels: { written: value } } });
}

/** Takes our taint off while others write. */
async function releaseAmong(others: () => Others): Promise<void> {
  const kubernetes = letOthersIn(world.cluster.api, others);
  await world.attempt(() => release({ ...world.environment, kubernetes }, world.ref));
}

async function node(): Promise<{ readonly taints: readonly string[]; readonly written: string | undefined }> {
  const live = await readNode(world.cluster.api, 'aks-old');
  return {
    taints: (live?.spec?.taints ?? []).map(({ key }) => key),
    written: live?.metadata.labels?.written,
  };
}

describe('r173: the taint that is taken off a node', () => {
  it('is off though others write the node each time between our read and our write, and what they wrote stays', async () => {
    let writes = 0;
    await releaseAmong(() => ({
      before: async () => {
        writes += 1;
        if (writes <= 3) await label(String(writes));
      },
    }));
    expect(writes).toBe(4);
    expect(await node()).toEqual({ taints: [], written: '3' });
  });

  it('is looked for again when the write itself was lost', async () => {
    world.cluster.simulator.addFault({ verb: 'patch', resource: 'nodes', then: { kind: 'reset' } });
    await expect(releaseAmong(() => ({}))).rejects.toThrow();
    expect((await node()).taints).toEqual([disruptedTaint]);
    await releaseAmong(() => ({}));
    expect((await node()).taints).toEqual([]);
  });

  it('is taken off by the next sweep when a writer has brought it back from an old copy', async () => {
    await releaseAmong(() => ({ after: taint }));
    expect((await node()).taints).toEqual([disruptedTaint]);
    const settings = { mode: 'report', minAgeMs: 0, maxDeletions: 10 } as const;
    const { environment } = world;
    const isRunning = (): Promise<boolean> => Promise.resolve(false);
    const activities = createSweepActivities(environment, isRunning, environment.virtualMachines, settings, noneStuck);
    const { findings } = await world.attempt(() => activities.sweep({ cluster: environment.clusterId }));
    expect(findings).toMatchObject([{ kind: 'taint', name: 'aks-old', action: 'removed' }]);
    expect((await node()).taints).toEqual([]);
  });
});
