import type { V1Pod } from '@kubernetes/client-node';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { behaviourNames } from '../../simulator/behaviour/behaviours.js';
import type { TestCluster } from './behaviourHarness.js';
import { eventually } from '../support/eventually.js';
import { createDeployment, createNode, startTestCluster, testMachine, TestMachineFeed } from './behaviourHarness.js';

const namespace = 'default';
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

async function pods(): Promise<readonly V1Pod[]> {
  return (await cluster.api.core.listNamespacedPod({ namespace })).items;
}

function isReady({ metadata, status }: V1Pod): boolean {
  const ready = status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True');
  return metadata?.deletionTimestamp === undefined && ready === true;
}

function readyPods(count: number): Promise<readonly V1Pod[]> {
  return eventually(async () => {
    const ready = (await pods()).filter(isReady);
    expect(ready).toHaveLength(count);
    return ready;
  });
}

function nameOf(pod: V1Pod | undefined): string {
  return pod?.metadata?.name ?? '';
}

function createdPods(): number {
  return cluster.simulator.audit.entries.filter(
    ({ resource, subresource, verb, status }) =>
      resource === 'pods' && subresource === undefined && verb === 'create' && status === 201,
  ).length;
}

function deploymentStatus(name: string, wanted: object): Promise<void> {
  return eventually(async () => {
    const { status } = await cluster.api.apps.readNamespacedDeployment({ name, namespace });
    expect(status).toMatchObject(wanted);
  });
}

function scale(name: string, replicas: number): Promise<void> {
  return cluster.send('PATCH', `/apis/apps/v1/namespaces/default/deployments/${name}`, { spec: { replicas } });
}

describe('a Deployment', () => {
  it('of ten comes to Running on the nodes that machines bring, with no pod too many', async () => {
    await cluster.play(behaviourNames, { machines: feed.options });
    await createDeployment(cluster, 'web', 10, { cpu: '1' });
    for (const name of ['aks-a', 'aks-b', 'aks-c', 'aks-d']) feed.switchOn(testMachine(name));
    const running = await readyPods(10);
    const nodes = running.map(({ spec }) => spec?.nodeName ?? '');
    for (const node of new Set(nodes)) expect(nodes.filter((name) => name === node).length).toBeLessThanOrEqual(3);
    await deploymentStatus('web', { replicas: 10, readyReplicas: 10, updatedReplicas: 10, availableReplicas: 10 });
    expect(createdPods()).toBe(10);
    const { items } = await cluster.api.apps.listNamespacedReplicaSet({ namespace });
    expect(items).toHaveLength(1);
    const [replicaSet] = items;
    expect(running[0]?.metadata?.ownerReferences).toEqual([
      expect.objectContaining({ kind: 'ReplicaSet', uid: replicaSet?.metadata?.uid, controller: true }),
    ]);
    expect(running[0]?.metadata?.labels).toMatchObject({ app: 'web', 'pod-template-hash': expect.any(String) });
  });

  it('replaces an evicted pod at once, and not on the node that is being drained', async () => {
    await cluster.play(behaviourNames, { machines: feed.options, podTerminationMs: 30_000 });
    feed.switchOn(testMachine('aks-a'));
    await createDeployment(cluster, 'web', 1);
    const [before] = await readyPods(1);
    expect(before?.spec?.nodeName).toBe('aks-a');
    feed.switchOn(testMachine('aks-b'));
    await eventually(async () => {
      const { status } = await cluster.api.core.readNode({ name: 'aks-b' });
      expect(status?.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('True');
    });
    await cluster.send('PATCH', '/api/v1/nodes/aks-a', {
      spec: { taints: [{ key: 'karpenter.sh/disrupted', effect: 'NoSchedule' }] },
    });
    const name = nameOf(before);
    await cluster.api.core.createNamespacedPodEviction({ name, namespace, body: { metadata: { name, namespace } } });
    await eventually(async () => {
      const all = await pods();
      expect(all).toHaveLength(1);
      expect(all.filter(isReady)).toHaveLength(1);
      expect(nameOf(all[0])).not.toBe(name);
      expect(all[0]?.spec?.nodeName).toBe('aks-b');
    });
    const entries = cluster.simulator.audit.entries;
    const evictedAt = entries.findIndex(({ verb, status }) => verb === 'evict' && status === 201);
    const replacedAt = entries.findIndex(
      ({ resource, subresource, verb }, index) =>
        index > evictedAt && resource === 'pods' && subresource === undefined && verb === 'create',
    );
    const goneAt = entries.findIndex(
      (entry) => entry.resource === 'pods' && entry.name === name && entry.removed === true,
    );
    expect(evictedAt).toBeGreaterThan(0);
    expect(replacedAt).toBeGreaterThan(evictedAt);
    expect(goneAt).toBeGreaterThan(replacedAt);
    expect(createdPods()).toBe(2);
  });

  it('replaces a failed pod, and one that was deleted by force', async () => {
    await cluster.play(['deployment', 'replicaSet']);
    await createDeployment(cluster, 'web', 2);
    const [first, second] = await eventually(async () => {
      const found = await pods();
      expect(found).toHaveLength(2);
      return found;
    });
    await cluster.send('PATCH', `/api/v1/namespaces/default/pods/${nameOf(first)}/status`, {
      status: { phase: 'Failed' },
    });
    await cluster.api.core.deleteNamespacedPod({ name: nameOf(second), namespace, gracePeriodSeconds: 0 });
    await eventually(async () => {
      const names = (await pods()).map(nameOf);
      expect(names).toHaveLength(3);
      expect(names).toContain(nameOf(first));
      expect(names).not.toContain(nameOf(second));
    });
    await deploymentStatus('web', { replicas: 2 });
    expect(createdPods()).toBe(4);
  });

  it('grows and shrinks: the newest pods go', async () => {
    await createNode(cluster, 'a');
    await cluster.play(['deployment', 'replicaSet', 'scheduler']);
    await createDeployment(cluster, 'web', 2);
    const old = await eventually(async () => {
      const found = await pods();
      expect(found).toHaveLength(2);
      return found.map(nameOf).sort();
    });
    const createdAt = (await pods())[0]?.metadata?.creationTimestamp?.getTime() ?? 0;
    // creationTimestamp has whole seconds only: the next pods must be younger.
    await eventually(() => {
      expect(Date.now()).toBeGreaterThan(createdAt + 1_000);
    });
    await scale('web', 5);
    await deploymentStatus('web', { replicas: 5 });
    await scale('web', 2);
    await deploymentStatus('web', { replicas: 2 });
    const left = (await pods()).filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
    expect(left.map(nameOf).sort()).toEqual(old);
    expect(createdPods()).toBe(5);
  });

  it('with a new template brings new pods up before the old ones go', async () => {
    await cluster.play(behaviourNames, { machines: feed.options });
    feed.switchOn(testMachine('aks-a'));
    await createDeployment(cluster, 'web', 2);
    const old = (await readyPods(2)).map(nameOf);
    const containers = [{ name: 'main', image: 'pause:3.11' }];
    await cluster.send('PATCH', '/apis/apps/v1/namespaces/default/deployments/web', {
      spec: { template: { spec: { containers } } },
    });
    await eventually(async () => {
      const all = await pods();
      expect(all).toHaveLength(2);
      expect(all.map(nameOf).filter((name) => old.includes(name))).toEqual([]);
      expect(all.filter(isReady)).toHaveLength(2);
    });
    await deploymentStatus('web', { replicas: 2, updatedReplicas: 2, readyReplicas: 2 });
  });
});
