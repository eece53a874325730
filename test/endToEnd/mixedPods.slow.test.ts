import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { readClusterFact } from '../../demo/clusterFacts.js';
import type { RolloutEnd } from '../../demo/rollout.js';
import { until } from '../../demo/until.js';
import { instanceTypeLabel, replacesAnnotation } from '../../karpenter/labels.js';
import { parseQuantity } from '../../karpenter/quantity.js';
import type { ReportedCaseRun } from './reportedCaseRun.js';
import { prepareReportedCase } from './reportedCaseRun.js';

interface Workload {
  readonly name: string;
  readonly replicas: number;
  readonly requests: Readonly<Record<string, string>>;
}

/** Beside one pod of 1.1 cores on each node; the heavy one fits only on the one node with 8 GiB. */
const workloads: readonly Workload[] = [
  { name: 'heavy', replicas: 1, requests: { cpu: '300m', memory: '4Gi' } },
  { name: 'medium', replicas: 2, requests: { cpu: '300m', memory: '2Gi' } },
  { name: 'small', replicas: 6, requests: { cpu: '50m', memory: '64Mi' } },
];
const nodes = 3;
const timeoutMs = 30_000;

async function createWorkload(run: ReportedCaseRun, { name, replicas, requests }: Workload): Promise<void> {
  const labels = { app: name };
  const containers = [{ name: 'main', image: 'pause:3.10', resources: { requests: { ...requests } } }];
  await run.api.apps.createNamespacedDeployment({
    namespace: 'default',
    body: {
      metadata: { name },
      spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
    },
  });
}

/** As another replacement would have left it when it found no room. */
async function markUnavailable(run: ReportedCaseRun, size: string): Promise<void> {
  const mark = JSON.stringify({ until: '2999-01-01T00:00:00Z', code: 'AllocationFailed' });
  await run.api.core.createNamespacedConfigMap({
    namespace: 'kube-system',
    body: { metadata: { name: 'driftless-unavailable-offerings' }, data: { [`${size}.any.any`]: mark } },
  });
}

async function untilAllRun(run: ReportedCaseRun): Promise<number> {
  const expected = nodes + workloads.reduce((sum, { replicas }) => sum + replicas, 0);
  return await until('all pods run', timeoutMs, async () => {
    const { items } = await run.api.core.listNamespacedPod({ namespace: 'default' });
    const left = items.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
    const isDone = left.length === expected && left.every(({ status }) => status?.phase === 'Running');
    return isDone ? left.length : undefined;
  });
}

describe('pods of mixed sizes, when Azure has no more of the larger VM size that they run on', () => {
  let run: ReportedCaseRun;
  let end: RolloutEnd;

  beforeAll(async () => {
    run = await prepareReportedCase({
      nodes,
      budget: String(nodes),
      speed: 20,
      durations: { vmCreateMs: 40_000, nodeBootMs: 10_000, vmDeleteMs: 10_000 },
    });
    for (const workload of workloads) {
      await createWorkload(run, workload);
    }
    await untilAllRun(run);
    await markUnavailable(run, 'Standard_D2as_v5');
    await run.drift();
    end = await run.untilRest();
  }, 120_000);

  afterAll(() => run.stop());

  it('replaces every node', () => {
    expect(end).toEqual({ kind: 'completed' });
  });

  it('leaves no pod without a place', async () => {
    await expect(untilAllRun(run)).resolves.toBe(12);
  });

  it('asks, with each replacement, for what its node’s pods ask for, and for a size that has it', () => {
    const replacements = run.stack.cluster.audit.entries.flatMap((entry) => {
      const fact = entry.verb === 'create' ? readClusterFact(entry) : undefined;
      const isReplacement =
        fact?.kind === 'nodeClaim' && fact.nodeClaim.metadata.annotations?.[replacesAnnotation] !== undefined;
      return isReplacement ? [fact.nodeClaim] : [];
    });
    const sizes = replacements.map(({ metadata, spec }) => {
      const { cpu = '0', memory = '0' } = spec.resources?.requests ?? {};
      expect(parseQuantity(cpu)).toBeGreaterThan(1.1);
      return [metadata.labels?.[instanceTypeLabel], parseQuantity(memory) >= parseQuantity('4Gi')];
    });
    expect(sizes.sort()).toEqual([
      ['Standard_D2ls_v5', false],
      ['Standard_D2ls_v5', false],
      ['Standard_D2s_v5', true],
    ]);
  });
});
