import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import type { TestCluster, TestNode } from './behaviourHarness.js';
import { eventually } from '../support/eventually.js';
import { createNode, createPod, startTestCluster } from './behaviourHarness.js';

let cluster: TestCluster;

beforeEach(async () => {
  cluster = await startTestCluster();
});
afterEach(async () => {
  await cluster.close();
});

/** Where the pod runs, or why it does not, as soon as one of them is known. */
function verdict(name: string): Promise<string> {
  return eventually(async () => {
    const { spec, status } = await cluster.api.core.readNamespacedPod({ name, namespace: 'default' });
    const condition = status?.conditions?.find(
      ({ type, status: value }) => type === 'PodScheduled' && value === 'False',
    );
    const answer = spec?.nodeName ?? condition?.message;
    if (answer === undefined) throw new Error(`pod ${name} has not been looked at`);
    return answer;
  });
}

interface Placement {
  readonly title: string;
  readonly nodes: Readonly<Record<string, TestNode>>;
  readonly pod: Parameters<typeof createPod>[2];
  readonly verdict: string;
}

const required = (...matchExpressions: object[]): object => ({
  nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] } },
});
const noSchedule = { key: 'karpenter.sh/disrupted', effect: 'NoSchedule' };

const placements: readonly Placement[] = [
  { title: 'a cluster without nodes', nodes: {}, pod: {}, verdict: 'no nodes available to schedule pods' },
  {
    title: 'the only node with room',
    nodes: { a: { cpu: '1' }, b: {} },
    pod: { requests: { cpu: '1500m' } },
    verdict: 'b',
  },
  {
    title: 'cpu and memory that nobody has',
    nodes: { a: { cpu: '900m', memory: '8Gi' }, b: { memory: '512Mi' } },
    pod: { requests: { cpu: '1', memory: '1Gi' } },
    verdict: '0/2 nodes are available: 1 Insufficient cpu, 1 Insufficient memory.',
  },
  {
    title: 'a request in another unit',
    nodes: { a: { memory: '1G' } },
    pod: { requests: { memory: '1Gi' } },
    verdict: '0/1 nodes are available: 1 Insufficient memory.',
  },
  {
    title: 'no place for a pod more',
    nodes: { a: { pods: '0' } },
    pod: {},
    verdict: '0/1 nodes are available: 1 Too many pods.',
  },
  {
    title: 'nodes that are not Ready or cordoned',
    nodes: { a: { ready: 'False' }, b: { unschedulable: true }, c: {} },
    pod: {},
    verdict: 'c',
  },
  {
    title: 'a taint',
    nodes: { a: { taints: [noSchedule] } },
    pod: { tolerations: [{ key: 'another', operator: 'Exists' }] },
    verdict: '0/1 nodes are available: 1 node(s) had untolerated taint {karpenter.sh/disrupted: }.',
  },
  {
    title: 'NoExecute with another value than tolerated',
    nodes: { a: { taints: [{ key: 'team', value: 'red', effect: 'NoExecute' }] } },
    pod: { tolerations: [{ key: 'team', value: 'blue' }] },
    verdict: '0/1 nodes are available: 1 node(s) had untolerated taint {team: red}.',
  },
  {
    title: 'a tolerated taint',
    nodes: { a: { taints: [noSchedule] } },
    pod: { tolerations: [{ operator: 'Exists' }] },
    verdict: 'a',
  },
  {
    title: 'PreferNoSchedule beside a node without',
    nodes: { a: { taints: [{ key: 'driftless.dev/waiting', effect: 'PreferNoSchedule' }] }, b: { cpu: '2' } },
    pod: { requests: { cpu: '1' } },
    verdict: 'b',
  },
  {
    title: 'PreferNoSchedule alone',
    nodes: { a: { taints: [{ key: 'x', effect: 'PreferNoSchedule' }] } },
    pod: {},
    verdict: 'a',
  },
  {
    title: 'a nodeSelector',
    nodes: { a: {}, b: { labels: { disk: 'ssd' } } },
    pod: { nodeSelector: { disk: 'ssd' } },
    verdict: 'b',
  },
  {
    title: 'affinity In',
    nodes: { a: { labels: { zone: '1' } }, b: { labels: { zone: '2' } } },
    pod: { affinity: required({ key: 'zone', operator: 'In', values: ['2', '3'] }) },
    verdict: 'b',
  },
  {
    title: 'affinity NotIn and Exists',
    nodes: { a: { labels: { zone: '1' } }, b: {}, c: { labels: { zone: '2' } } },
    pod: { affinity: required({ key: 'zone', operator: 'NotIn', values: ['1'] }, { key: 'zone', operator: 'Exists' }) },
    verdict: 'c',
  },
  {
    title: 'affinity DoesNotExist',
    nodes: { a: { labels: { zone: '1' } } },
    pod: { affinity: required({ key: 'zone', operator: 'DoesNotExist' }) },
    verdict: "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.",
  },
  { title: 'equal nodes, by name', nodes: { b: {}, a: {} }, pod: {}, verdict: 'a' },
];

describe('the scheduler', () => {
  it.each(placements)('decides: $title', async ({ nodes, pod, verdict: wanted }) => {
    for (const [name, node] of Object.entries(nodes)) await createNode(cluster, name, node);
    await cluster.play(['scheduler']);
    await createPod(cluster, 'pod', pod);
    expect(await verdict('pod')).toBe(wanted);
  });

  it('gives no room twice, and fills the nodes evenly', async () => {
    const nodes = ['a', 'b', 'c', 'd', 'e'];
    for (const name of nodes) await createNode(cluster, name, { cpu: '4' });
    await cluster.play(['scheduler']);
    const names = Array.from({ length: 21 }, (_, index) => `pod-${index}`);
    await Promise.all(names.map((name) => createPod(cluster, name, { requests: { cpu: '1' } })));

    const verdicts = await Promise.all(names.map(verdict));
    const placed = nodes.map((node) => verdicts.filter((answer) => answer === node).length);
    expect(placed).toEqual([4, 4, 4, 4, 4]);
    const waiting = names.find((_, index) => verdicts[index] === '0/5 nodes are available: 5 Insufficient cpu.');
    const bound = names.find((_, index) => verdicts[index] === 'c');
    expect(waiting).toBeDefined();

    await cluster.send('DELETE', `/api/v1/namespaces/default/pods/${bound ?? ''}`, { gracePeriodSeconds: 0 });
    const pod = await eventually(async () => {
      const found = await cluster.api.core.readNamespacedPod({ name: waiting ?? '', namespace: 'default' });
      expect(found.spec?.nodeName).toBeDefined();
      return found;
    });
    expect(pod.spec?.nodeName).toBe('c');
  });

  it('looks again at a waiting pod when a node becomes Ready, and says why it waits only once', async () => {
    await createNode(cluster, 'a', { ready: 'False' });
    await cluster.play(['scheduler']);
    await createPod(cluster, 'pod');
    expect(await verdict('pod')).toBe('0/1 nodes are available: 1 node(s) were not ready.');
    await createNode(cluster, 'b');
    await eventually(async () => {
      expect(await verdict('pod')).toBe('b');
    });
    const reasons = cluster.simulator.audit.entries.filter(
      ({ resource, subresource, verb }) => resource === 'pods' && subresource === 'status' && verb === 'patch',
    );
    expect(reasons.filter(({ status }) => status < 300)).toHaveLength(1);
  });

  it('leaves pods of other schedulers alone', async () => {
    await createNode(cluster, 'a');
    await cluster.play(['scheduler']);
    await createPod(cluster, 'foreign', { schedulerName: 'another' });
    await createPod(cluster, 'ours');
    expect(await verdict('ours')).toBe('a');
    const foreign = await cluster.api.core.readNamespacedPod({ name: 'foreign', namespace: 'default' });
    expect(foreign.spec?.nodeName).toBeUndefined();
  });
});
