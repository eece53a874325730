import type { V1Pod } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { mergePatch } from '../../activities/kubernetes/kubernetesApi.js';
import type { TestCluster } from './clusterFixture.js';
import { failureOf, nodeClaimOf, nodeClaims, podOf, startCluster } from './clusterFixture.js';

const namespace = 'default';

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await startCluster();
});

afterAll(async () => {
  await cluster.simulator.close();
});

async function createPod(name: string, nodeName?: string): Promise<V1Pod> {
  return cluster.api.core.createNamespacedPod({ namespace, body: podOf(name, { nodeName }) });
}

async function readPod(name: string): Promise<V1Pod> {
  return cluster.api.core.readNamespacedPod({ namespace, name });
}

async function expectGone(read: Promise<unknown>): Promise<void> {
  expect(await failureOf(read)).toMatchObject({ code: 404 });
}

describe('deleting most objects', () => {
  it('takes effect at once, and answers with a Status that names the object', async () => {
    const { metadata } = await cluster.api.core.createNode({ body: { metadata: { name: 'gone' } } });
    expect(await cluster.raw('DELETE', '/api/v1/nodes/gone')).toMatchObject({
      code: 200,
      body: {
        kind: 'Status',
        apiVersion: 'v1',
        status: 'Success',
        details: { name: 'gone', kind: 'nodes', uid: metadata?.uid },
      },
    });
    await expectGone(cluster.api.core.readNode({ name: 'gone' }));
    expect(await failureOf(cluster.api.core.deleteNode({ name: 'gone' }))).toMatchObject({ code: 404 });
  });

  it('waits for finalizers, of which no more can be added', async () => {
    const name = 'held';
    const body = nodeClaimOf(name, { finalizers: ['karpenter.sh/termination', 'example.com/other'] });
    await cluster.api.custom.createClusterCustomObject({ ...nodeClaims, body });
    const patchFinalizers = (finalizers: readonly string[]) =>
      cluster.api.custom.patchClusterCustomObject(
        { ...nodeClaims, name, body: { metadata: { finalizers } } },
        mergePatch,
      );

    const deleted = await cluster.raw('DELETE', `/apis/karpenter.sh/v1/nodeclaims/${name}`);
    expect(deleted.body).toMatchObject({
      kind: 'NodeClaim',
      metadata: { deletionGracePeriodSeconds: 0, deletionTimestamp: expect.any(String), generation: 2 },
    });
    const again = await cluster.raw('DELETE', `/apis/karpenter.sh/v1/nodeclaims/${name}`);
    expect(again.body).toEqual(deleted.body);

    const refused = await failureOf(patchFinalizers(['karpenter.sh/termination', 'example.com/new']));
    expect(refused).toMatchObject({
      code: 422,
      message:
        'NodeClaim.karpenter.sh "held" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/new"}',
    });
    const recreate = cluster.api.custom.createClusterCustomObject({ ...nodeClaims, body });
    expect(await failureOf(recreate)).toMatchObject({
      code: 409,
      message: 'object is being deleted: nodeclaims.karpenter.sh "held" already exists',
    });

    expect(await patchFinalizers(['example.com/other'])).toHaveProperty('metadata.finalizers', ['example.com/other']);
    expect(await patchFinalizers([])).not.toHaveProperty('metadata.finalizers');
    await expectGone(cluster.api.custom.getClusterCustomObject({ ...nodeClaims, name }));
    expect(cluster.simulator.audit.entries.at(-2)).toMatchObject({ verb: 'patch', name, status: 200, removed: true });
  });

  it.each([
    {
      precondition: 'uid',
      value: 'another',
      message:
        /^Operation cannot be fulfilled on Node "kept": the UID in the precondition \(another\) does not match the UID in record \(.+\)\. The object might have been deleted and then recreated$/,
    },
    {
      precondition: 'resourceVersion',
      value: '1',
      message:
        /^Operation cannot be fulfilled on Node "kept": the ResourceVersion in the precondition \(1\) does not match the ResourceVersion in record \(\d+\)\. The object might have been modified$/,
    },
  ])('is refused when the $precondition is another', async ({ precondition, value, message }) => {
    await cluster.raw('POST', '/api/v1/nodes', { body: '{"metadata":{"name":"kept"}}' });
    const call = cluster.api.core.deleteNode({ name: 'kept', body: { preconditions: { [precondition]: value } } });
    expect(await failureOf(call)).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message: expect.stringMatching(message),
      details: { name: 'kept', kind: 'Node' },
    });
    await cluster.api.core.readNode({ name: 'kept' });
  });

  it.each([
    { what: 'a collection', path: '/api/v1/nodes' },
    { what: 'a namespace', path: '/api/v1/namespaces/kube-public' },
  ])('of $what is not implemented', async ({ path }) => {
    expect(await cluster.raw('DELETE', path)).toMatchObject({ code: 501, body: { kind: 'Status', code: 501 } });
  });
});

describe('deleting a pod', () => {
  it('that no node has takes effect at once', async () => {
    await createPod('unbound');
    const deleted = await cluster.api.core.deleteNamespacedPod({ namespace, name: 'unbound' });
    expect(deleted.metadata).toMatchObject({ name: 'unbound', deletionGracePeriodSeconds: 0 });
    await expectGone(readPod('unbound'));
  });

  it.each(['Succeeded', 'Failed'])('that has %s takes effect at once', async (phase) => {
    const name = phase.toLowerCase();
    await createPod(name, 'n');
    await cluster.api.core.patchNamespacedPodStatus({ namespace, name, body: { status: { phase } } }, mergePatch);
    await cluster.api.core.deleteNamespacedPod({ namespace, name });
    await expectGone(readPod(name));
  });

  it('that a node has gives it its grace period, until the kubelet says that it is over', async () => {
    await createPod('graceful', 'n');
    const startedAt = Date.now();
    const deleted = await cluster.api.core.deleteNamespacedPod({ namespace, name: 'graceful' });
    expect(deleted.metadata?.deletionGracePeriodSeconds).toBe(30);
    const deletionAt = deleted.metadata?.deletionTimestamp?.getTime() ?? 0;
    expect(deletionAt).toBeGreaterThanOrEqual(Math.floor(startedAt / 1000) * 1000 + 30_000);
    expect(deleted.metadata?.generation).toBe(2);

    const longer = await cluster.api.core.deleteNamespacedPod({ namespace, name: 'graceful', gracePeriodSeconds: 60 });
    expect(longer).toEqual(deleted);
    const unsaid = await cluster.api.core.deleteNamespacedPod({ namespace, name: 'graceful' });
    expect(unsaid).toEqual(deleted);

    const shorter = await cluster.api.core.deleteNamespacedPod({ namespace, name: 'graceful', gracePeriodSeconds: 10 });
    expect(shorter.metadata?.deletionGracePeriodSeconds).toBe(10);
    expect(shorter.metadata?.deletionTimestamp?.getTime()).toBe(deletionAt - 20_000);
    expect(shorter.metadata?.generation).toBe(2);

    await cluster.api.core.deleteNamespacedPod({ namespace, name: 'graceful', body: { gracePeriodSeconds: 0 } });
    await expectGone(readPod('graceful'));
  });

  it('does not end before its finalizers are gone', async () => {
    const { metadata, spec } = podOf('final', { nodeName: 'n' });
    const body = { metadata: { ...metadata, finalizers: ['example.com/x'] }, spec };
    await cluster.api.core.createNamespacedPod({ namespace, body });
    await cluster.api.core.deleteNamespacedPod({ namespace, name: 'final', gracePeriodSeconds: 0 });
    expect((await readPod('final')).metadata?.deletionGracePeriodSeconds).toBe(0);
    const patch = { metadata: { finalizers: null } };
    await cluster.api.core.patchNamespacedPod({ namespace, name: 'final', body: patch }, mergePatch);
    await expectGone(readPod('final'));
  });

  it('leaves nothing in the list of its node', async () => {
    await createPod('listed', 'node-of-one');
    const list = () => cluster.api.core.listPodForAllNamespaces({ fieldSelector: 'spec.nodeName=node-of-one' });
    expect((await list()).items).toHaveLength(1);
    await cluster.api.core.deleteNamespacedPod({ namespace, name: 'listed', gracePeriodSeconds: 0 });
    expect((await list()).items).toHaveLength(0);
  });
});
