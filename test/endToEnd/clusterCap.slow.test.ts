import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { listNodeClaims } from '../../activities/kubernetes/nodeClaims.js';
import { untilRolloutRests } from '../../demo/rollout.js';
import { buildPool } from '../../demo/scenario.js';
import { rolloutWorkflowId } from '../../workflows/ids.js';
import type { nodePoolRollout } from '../../workflows/nodePoolRollout.js';
import { putNames } from './auditQuestions.js';
import { disruptedByUs, momentsOf } from './clusterMoments.js';
import type { ReportedCaseRun } from './reportedCaseRun.js';
import { prepareReportedCase } from './reportedCaseRun.js';

const cap = 3;
const nodes = 5;
const pools = ['general-purpose', 'batch'] as const;
const restTimeoutMs = 100_000;

describe('two pools with a budget of 3 each, under a cluster-wide cap of 3', () => {
  let run: ReportedCaseRun;

  beforeAll(async () => {
    run = await prepareReportedCase({
      nodes,
      budget: '3',
      speed: 20,
      durations: { vmCreateMs: 10_000, nodeBootMs: 5_000, podTerminationMs: 1_000, vmDeleteMs: 5_000 },
      workerFlags: ['--max-disrupted-nodes', String(cap)],
    });
    const { api, stack } = run;
    await buildPool(api, stack.machines, { nodePool: 'batch', deployment: 'batch', nodes, budget: '3', seed: 2 });
    await run.drift();
    for (const pool of pools) {
      const { signal } = new AbortController();
      expect(await untilRolloutRests(run.workflows, stack.clusterId, pool, restTimeoutMs, signal)).toEqual({
        kind: 'completed',
      });
    }
  }, 150_000);

  afterAll(() => run.stop());

  it('replaces all nodes of both', async () => {
    for (const pool of pools) {
      const rollout = run.workflows.getHandle<typeof nodePoolRollout>(rolloutWorkflowId(run.stack.clusterId, pool));
      const { replaced, failures } = await rollout.result();
      expect(replaced).toHaveLength(nodes);
      expect(failures).toEqual([]);
      expect(await listNodeClaims(run.api, pool)).toHaveLength(nodes);
    }
    expect(new Set(putNames(run.stack.azure)).size).toBe(pools.length * nodes);
  });

  it('disrupts never more than the cap and one for each pool that may race for it, and uses it', () => {
    let most = 0;
    for (const moment of momentsOf(run.stack.cluster)) most = Math.max(most, disruptedByUs(moment).length);
    expect(most).toBeGreaterThanOrEqual(cap);
    expect(most).toBeLessThanOrEqual(cap + pools.length - 1);
  });
});
