import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { mergePatch } from '../../activities/kubernetes/kubernetesApi.js';
import { nodePoolName } from '../../demo/scenario.js';
import { until } from '../../demo/until.js';
import { disruptedTaint } from '../../karpenter/labels.js';
import { rolloutWorkflowId } from '../../workflows/ids.js';
import { statusQuery } from '../../workflows/messages.js';
import type { nodePoolRollout } from '../../workflows/nodePoolRollout.js';
import { deleteNames, prematureEvictions, putNames } from './auditQuestions.js';
import { disruptedByUs, hasTaint, momentsOf } from './clusterMoments.js';
import type { ReportedCaseRun } from './reportedCaseRun.js';
import { prepareReportedCase } from './reportedCaseRun.js';

const timeoutMs = 30_000;
const durations = { vmCreateMs: 20_000, nodeBootMs: 10_000, podTerminationMs: 1_000, vmDeleteMs: 10_000 };
const namespace = 'default';

function rolloutOf({ workflows, stack }: ReportedCaseRun) {
  return workflows.getHandle<typeof nodePoolRollout>(rolloutWorkflowId(stack.clusterId, nodePoolName));
}

async function scale({ api }: ReportedCaseRun, replicas: number): Promise<void> {
  await api.apps.patchNamespacedDeployment({ namespace, name: 'inflate', body: { spec: { replicas } } }, mergePatch);
}

/** The nodes of the pods that run, once there are so many. */
async function untilPods({ api }: ReportedCaseRun, count: number): Promise<string[]> {
  return await until(`${count} pods`, timeoutMs, async () => {
    const { items } = await api.core.listNamespacedPod({ namespace });
    const running = items.filter(({ status, metadata }) => status?.phase === 'Running' && !metadata?.deletionTimestamp);
    return items.length === count && running.length === count
      ? running.map(({ spec }) => spec?.nodeName ?? '')
      : undefined;
  });
}

/** A DaemonSet's pod on that node; nobody makes another one. */
async function runDaemonPod({ api }: ReportedCaseRun, nodeName: string): Promise<void> {
  const labels = { app: 'agent' };
  const containers = [{ name: 'agent', image: 'agent' }];
  const template = { metadata: { labels }, spec: { containers } };
  const { metadata } = await api.apps.createNamespacedDaemonSet({
    namespace,
    body: { metadata: { name: 'agent' }, spec: { selector: { matchLabels: labels }, template } },
  });
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: metadata?.uid ?? '', controller: true };
  await api.core.createNamespacedPod({
    namespace,
    body: { metadata: { name: 'agent', labels, ownerReferences: [owner] }, spec: { nodeName, containers } },
  });
}

/** The order in which nodes got the taint of a disruption. */
function disruptionOrder({ stack }: ReportedCaseRun): string[] {
  const order = new Set<string>();
  for (const { fact } of momentsOf(stack.cluster)) {
    if (fact.kind === 'node' && hasTaint(fact.node, disruptedTaint)) order.add(fact.node.metadata.name);
  }
  return [...order];
}

describe('a drifted pool of four nodes, two of them without a workload', () => {
  let run: ReportedCaseRun;
  let busy: string[];
  let empty: string[];

  beforeAll(async () => {
    run = await prepareReportedCase({ nodes: 4, budget: '1', speed: 20, durations });
    await scale(run, 2);
    busy = await untilPods(run, 2);
    const all = run.stack.azure.virtualMachines().map(({ name }) => name);
    empty = all.filter((name) => !busy.includes(name));
    await runDaemonPod(run, empty[0] ?? '');
    await untilPods(run, 3);
    await run.drift();
    expect(await run.untilRest()).toEqual({ kind: 'completed' });
  }, 120_000);

  afterAll(() => run.stop());

  it('asks for no VM for the empty ones, a pod of a DaemonSet or not, and deletes all four', async () => {
    expect(empty).toHaveLength(2);
    expect(putNames(run.stack.azure)).toHaveLength(2);
    expect(new Set(deleteNames(run.stack.azure))).toEqual(new Set([...empty, ...busy]));
    const { replaced } = await rolloutOf(run).result();
    const withoutReplacement = replaced.filter(({ replacement }) => replacement === null);
    expect(withoutReplacement.map(({ nodeClaim }) => `aks-${nodeClaim}`).sort()).toEqual([...empty].sort());
    expect(replaced).toHaveLength(4);
  });

  it('takes the empty ones first, under the same budget', () => {
    expect(new Set(disruptionOrder(run).slice(0, 2))).toEqual(new Set(empty));
    let most = 0;
    for (const moment of momentsOf(run.stack.cluster)) most = Math.max(most, disruptedByUs(moment).length);
    expect(most).toBe(1);
  });

  it('evicts nothing before its replacement is there, and leaves nothing behind', async () => {
    const evictions = prematureEvictions(run.stack.cluster).filter((text) => !text.includes('/agent '));
    expect(evictions).toEqual([]);
    const { orphans } = await run.report();
    expect(orphans).toEqual({ vms: 0, nics: 0, nodeClaims: 0, taints: 0 });
    expect(run.stack.azure.virtualMachines()).toHaveLength(2);
  });
});

describe('a pod that comes to an empty node when its replacement has been admitted', () => {
  let run: ReportedCaseRun;
  let node: string;

  beforeAll(async () => {
    run = await prepareReportedCase({ nodes: 1, budget: '1', speed: 20, durations });
    await scale(run, 0);
    await untilPods(run, 0);
    node = run.stack.azure.virtualMachines()[0]?.name ?? '';
    // Room for the pod between the look that finds the node empty and the taint.
    run.stack.cluster.addFault({ verb: 'patch', resource: 'nodes', name: node, then: { kind: 'delay', ms: 3_000 } });
    await run.drift();
    const query = `Cluster = "${run.stack.clusterId}" AND WorkflowType = "replaceNode"`;
    await until('it is admitted', timeoutMs, async () =>
      (await run.workflows.count(query)).count > 0 ? true : undefined,
    );
    const { admission } = await rolloutOf(run).query(statusQuery);
    expect(admission?.start).toMatchObject([{ isEmpty: true }]);
    await scale(run, 1);
    expect(await untilPods(run, 1)).toEqual([node]);
    expect(await run.untilRest()).toEqual({ kind: 'completed' });
  }, 120_000);

  afterAll(() => run.stop());

  it('came before the taint', () => {
    const kinds = [...momentsOf(run.stack.cluster)].flatMap(({ fact }) => {
      if (fact.kind === 'podBound') return ['bound'];
      return fact.kind === 'node' && fact.node.metadata.name === node && hasTaint(fact.node, disruptedTaint)
        ? ['tainted']
        : [];
    });
    expect(kinds.indexOf('tainted')).toBeGreaterThan(kinds.lastIndexOf('bound', kinds.indexOf('tainted')));
    expect(kinds.slice(0, kinds.indexOf('tainted'))).toHaveLength(2);
  });

  it('makes it a replacement like any other', async () => {
    expect(putNames(run.stack.azure)).toHaveLength(1);
    expect(prematureEvictions(run.stack.cluster)).toEqual([]);
    const report = await run.report();
    expect(report).toMatchObject({ replaced: 1, failed: 0, podMoves: { evicted: 1 } });
    const { replaced } = await rolloutOf(run).result();
    expect(replaced[0]?.replacement).not.toBeNull();
  });
});
