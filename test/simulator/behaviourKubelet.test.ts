import type { V1Node } from '@kubernetes/client-node';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { nodeSchema } from '../../karpenter/api.js';
import { isTrue } from '../../karpenter/conditions.js';
import { createLog } from '../../runtime/log.js';
import type { TestCluster } from './behaviourHarness.js';
import { eventually } from '../support/eventually.js';
import { createNode, createPod, startTestCluster, testMachine, TestMachineFeed } from './behaviourHarness.js';

let cluster: TestCluster;
let feed: TestMachineFeed;

beforeEach(async () => {
  cluster = await startTestCluster();
  feed = await TestMachineFeed.start();
  cluster.closesWithIt(feed);
});
afterEach(async () => {
  await cluster.close();
});

function readiness(node: V1Node): string | undefined {
  return node.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
}

function nodeWith(name: string, ready: string): Promise<V1Node> {
  return eventually(async () => {
    const node = await cluster.api.core.readNode({ name });
    expect(readiness(node)).toBe(ready);
    return node;
  });
}

async function podNames(): Promise<readonly (string | undefined)[]> {
  const { items } = await cluster.api.core.listPodForAllNamespaces();
  return items.map(({ metadata }) => metadata?.name);
}

/** The successful writes to the Node, in order. */
function nodeWrites(name: string) {
  return cluster.simulator.audit.entries.filter(
    (entry) =>
      entry.resource === 'nodes' &&
      entry.status < 300 &&
      entry.name === name &&
      !['get', 'list', 'watch'].includes(entry.verb),
  );
}

describe('the kubelet of a machine', () => {
  it('registers with the labels and taints of the bootstrap, is Ready at the end of the boot, then loses the startup taint', async () => {
    await cluster.play(['kubelet', 'startupTaint', 'nodeLifecycle'], { machines: feed.options });
    const machine = testMachine(
      'aks-claim-1',
      [
        '#!/bin/bash',
        'KUBELET_NODE_LABELS=karpenter.sh/nodepool=general-purpose,team=blue',
        'KUBELET_REGISTER_WITH_TAINTS=karpenter.sh/unregistered:NoExecute,node.cilium.io/agent-not-ready=true:NoExecute',
      ].join('\n'),
    );
    const startedAtMs = Date.now();
    feed.switchOn(machine);
    const registered = await eventually(() => cluster.api.core.readNode({ name: machine.name }));
    expect(Date.now() - startedAtMs).toBeGreaterThanOrEqual(240);
    expect(registered.spec).toMatchObject({ providerID: `azure://${machine.resourceId}` });
    expect(registered.spec?.taints).toEqual([
      expect.objectContaining({ key: 'karpenter.sh/unregistered', effect: 'NoExecute' }),
      expect.objectContaining({ key: 'node.cilium.io/agent-not-ready', value: 'true', effect: 'NoExecute' }),
      expect.objectContaining({ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }),
    ]);
    expect(registered.metadata?.labels).toMatchObject({
      'kubernetes.io/hostname': 'aks-claim-1',
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'amd64',
      'node.kubernetes.io/instance-type': 'Standard_D4s_v5',
      'topology.kubernetes.io/zone': 'westus2-1',
      'topology.kubernetes.io/region': 'westus2',
      'karpenter.sh/nodepool': 'general-purpose',
      team: 'blue',
    });

    const ready = await nodeWith(machine.name, 'True');
    expect(Date.now() - startedAtMs).toBeGreaterThanOrEqual(300);
    expect(ready.status?.capacity).toMatchObject({ cpu: '4', memory: '16777216Ki', pods: '110' });
    expect(ready.status?.allocatable).toMatchObject({ cpu: '3900m', memory: '15099494Ki', pods: '110' });
    await eventually(async () => {
      const { spec } = await cluster.api.core.readNode({ name: machine.name });
      expect(spec?.taints?.map(({ key }) => key)).toEqual(['karpenter.sh/unregistered']);
    });
    const writes = nodeWrites(machine.name);
    expect(writes[0]).toMatchObject({ verb: 'create', userAgent: 'driftless-simulator/kubelet' });
    const readyAt = writes.findIndex(({ object }) => isTrue(nodeSchema.parse(object), 'Ready'));
    const untaintedAt = writes.findIndex(({ userAgent }) => userAgent === 'driftless-simulator/startupTaint');
    expect(readyAt).toBeGreaterThan(0);
    expect(untaintedAt).toBeGreaterThan(readyAt);
  });

  it('does not start with a bootstrap that cannot be read', async () => {
    await cluster.play(['kubelet'], { machines: feed.options, log: createLog('behaviour-test', 'silent') });
    feed.switchOn(testMachine('aks-broken', 'KUBELET_REGISTER_WITH_TAINTS=no-effect'));
    feed.switchOn(testMachine('aks-sound'));
    await nodeWith('aks-sound', 'True');
    await expect(cluster.api.core.readNode({ name: 'aks-broken' })).rejects.toMatchObject({ code: 404 });
  });

  it('adopts the Ready Node of its machine as it is', async () => {
    const [adopted, other] = [testMachine('aks-adopted'), testMachine('aks-other')];
    await createNode(cluster, adopted.name, { providerID: `azure://${adopted.resourceId}` });
    const before = await cluster.api.core.readNode({ name: adopted.name });
    feed.switchOn(adopted);
    feed.switchOn(other);
    await cluster.play(['kubelet', 'nodeLifecycle'], { machines: feed.options });
    await createPod(cluster, 'pod', { nodeName: adopted.name });
    await nodeWith(other.name, 'True');
    await eventually(async () => {
      const pod = await cluster.api.core.readNamespacedPod({ name: 'pod', namespace: 'default' });
      expect(pod.status?.phase).toBe('Running');
    });
    const after = await cluster.api.core.readNode({ name: adopted.name });
    expect(after.metadata?.resourceVersion).toBe(before.metadata?.resourceVersion);
  });

  it('registers again when its Node is deleted while the machine runs', async () => {
    await cluster.play(['kubelet'], { machines: feed.options });
    feed.switchOn(testMachine('aks-a'));
    const first = await nodeWith('aks-a', 'True');
    await cluster.api.core.deleteNode({ name: 'aks-a' });
    const second = await nodeWith('aks-a', 'True');
    expect(second.metadata?.uid).not.toBe(first.metadata?.uid);
  });

  it('runs the pods of its node, and ends them after their termination, never later than their grace', async () => {
    await cluster.play(['kubelet'], { machines: feed.options, podTerminationMs: 100_000 });
    feed.switchOn(testMachine('aks-a'));
    await nodeWith('aks-a', 'True');
    const names = ['slow', 'short', 'other'];
    await createPod(cluster, 'slow', { nodeName: 'aks-a', terminationGracePeriodSeconds: 60 });
    await createPod(cluster, 'short', { nodeName: 'aks-a', terminationGracePeriodSeconds: 1 });
    await createPod(cluster, 'other', { nodeName: 'aks-nobody' });
    await eventually(async () => {
      for (const name of ['slow', 'short']) {
        const { status } = await cluster.api.core.readNamespacedPod({ name, namespace: 'default' });
        expect(status?.phase).toBe('Running');
        expect(status?.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('True');
      }
    });
    const deletedAtMs = Date.now();
    for (const name of names) await cluster.api.core.deleteNamespacedPod({ name, namespace: 'default' });
    await eventually(async () => {
      expect(await podNames()).toEqual(expect.not.arrayContaining(['short']));
    });
    expect(await podNames()).toEqual(expect.arrayContaining(['slow', 'other']));
    await eventually(async () => {
      expect(await podNames()).toEqual(['other']);
    });
    expect(Date.now() - deletedAtMs).toBeGreaterThanOrEqual(600);
    const { metadata } = await cluster.api.core.readNamespacedPod({ name: 'other', namespace: 'default' });
    expect(metadata?.deletionTimestamp).toBeDefined();
  });
});

describe('a machine that stops', () => {
  it('leaves a Node that becomes Unknown, and pods that go only with the Node', async () => {
    await cluster.play(['kubelet', 'nodeLifecycle', 'podGarbageCollector'], { machines: feed.options });
    const [dying, living] = [testMachine('aks-dying'), testMachine('aks-living')];
    feed.switchOn(dying);
    feed.switchOn(living);
    await nodeWith(dying.name, 'True');
    await nodeWith(living.name, 'True');
    await createPod(cluster, 'pod', { nodeName: dying.name });
    await createPod(cluster, 'neighbour', { nodeName: living.name });
    const stoppedAtMs = Date.now();
    feed.switchOff(dying);
    const node = await nodeWith(dying.name, 'Unknown');
    expect(Date.now() - stoppedAtMs).toBeGreaterThanOrEqual(400);
    expect(node.status?.conditions?.find(({ type }) => type === 'Ready')?.reason).toBe('NodeStatusUnknown');
    await eventually(async () => {
      const { spec } = await cluster.api.core.readNode({ name: dying.name });
      expect(spec?.taints).toEqual([
        expect.objectContaining({ key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule' }),
      ]);
    });
    expect(await podNames()).toEqual(expect.arrayContaining(['pod', 'neighbour']));

    await cluster.api.core.deleteNode({ name: dying.name });
    await eventually(async () => {
      expect(await podNames()).toEqual(['neighbour']);
    });
    expect(readiness(await cluster.api.core.readNode({ name: living.name }))).toBe('True');
  });

  it('is noticed after a lost connection, too, and machines that went on running stay Ready', async () => {
    await cluster.play(['kubelet', 'nodeLifecycle'], { machines: feed.options });
    const [dying, living] = [testMachine('aks-dying'), testMachine('aks-living')];
    feed.switchOn(dying);
    feed.switchOn(living);
    await nodeWith(dying.name, 'True');
    const before = await nodeWith(living.name, 'True');
    feed.dropConnections();
    feed.switchOff(dying);
    await nodeWith(dying.name, 'Unknown');
    const after = await cluster.api.core.readNode({ name: living.name });
    expect(readiness(after)).toBe('True');
    expect(after.metadata?.uid).toBe(before.metadata?.uid);
  });
});
