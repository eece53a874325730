import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { readClusterFact } from '../../demo/clusterFacts.js';
import type { RolloutEnd } from '../../demo/rollout.js';
import { until } from '../../demo/until.js';
import { replacesAnnotation } from '../../karpenter/labels.js';
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

async function untilAllRun(run: ReportedCaseRun): Promise<number> {
  const expected = nodes + workloads.reduce((sum, { replicas }) => sum + replicas, 0);
  return await until('all pods run', timeoutMs, async () => {
    const { items } = await run.api.core.listNamespacedPod({ namespace: 'default' });
    const left = items.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
    const isDone = left.length === expected && left.every(({ status }) => status?.phase === 'Running');
    return isDone ? left.length : undefined;
  });
}

describe('pods of mixed sizes, when Azure has none of the VM sizes that they run on', () => {
  let run: ReportedCaseRun;
  let end: RolloutEnd;

  beforeAll(async () => {
    run = await prepareReportedCase({
      nodes,
      budget: String(nodes),
      speed: 20,
      durations: { vmCreateMs: 40_000, nodeBootMs: 10_000, vmDeleteMs: 10_000 },
      faults: [
        {
          on: 'createVirtualMachine',
          count: nodes,
          then: { kind: 'operationFails', afterSeconds: 20, code: 'AllocationFailed', message: 'no room' },
        },
      ],
    });
    for (const workload of workloads) {
      await createWorkload(run, workload);
    }
    await untilAllRun(run);
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

  it('asks, with each replacement, for what its node’s pods ask for', () => {
    const requested = run.stack.cluster.audit.entries.flatMap((entry) => {
      const fact = entry.verb === 'create' ? readClusterFact(entry) : undefined;
      const isReplacement =
        fact?.kind === 'nodeClaim' && fact.nodeClaim.metadata.annotations?.[replacesAnnotation] !== undefined;
      return isReplacement ? [fact.nodeClaim.spec.resources?.requests ?? {}] : [];
    });
    expect(requested.length).toBeGreaterThan(nodes);
    for (const { cpu } of requested) expect(parseQuantity(cpu ?? '0')).toBeGreaterThan(1.1);
    const heavy = requested.filter(({ memory }) => parseQuantity(memory ?? '0') >= parseQuantity('4Gi'));
    expect(heavy.length).toBeGreaterThan(0);
  });
});
