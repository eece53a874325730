import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { jsonPatch } from '../../activities/kubernetes/kubernetesApi.js';
import type { TestCluster } from './clusterFixture.js';
import { nodeClaimOf, nodeClaims, podOf, startCluster } from './clusterFixture.js';

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await startCluster();
});

afterAll(async () => {
  await cluster.simulator.close();
});

describe('the start', () => {
  it('has the namespaces and priority classes of every cluster', async () => {
    const { items } = await cluster.api.core.listNamespace();
    expect(items.map((item) => item.metadata?.name)).toEqual([
      'default',
      'kube-node-lease',
      'kube-public',
      'kube-system',
    ]);
    const uids = new Set(items.map((item) => item.metadata?.uid));
    expect(uids.size).toBe(4);
    expect(items[0]?.status?.phase).toBe('Active');
    expect((await cluster.raw('GET', '/apis/scheduling.k8s.io/v1/priorityclasses')).body).toMatchObject({
      kind: 'PriorityClassList',
      items: [
        { metadata: { name: 'system-cluster-critical' }, value: 2_000_000_000 },
        { metadata: { name: 'system-node-critical' }, value: 2_000_001_000 },
      ],
    });
  });
});

describe('create', () => {
  it('drops the status where it is a subresource, but lets kubelets set that of their node', async () => {
    const claim = { ...nodeClaimOf('no-status'), status: { providerID: 'azure:///x' } };
    expect(await cluster.api.custom.createClusterCustomObject({ ...nodeClaims, body: claim })).not.toHaveProperty(
      'status',
    );
    const node = { metadata: { name: 'with-status' }, status: { capacity: { cpu: '4' } } };
    const created = await cluster.api.core.createNode({ body: node });
    expect(created.status?.capacity).toEqual({ cpu: '4' });
    expect(created.metadata?.generation).toBeUndefined();
  });

  it('takes the priority of a pod from its class', async () => {
    const body = podOf('critical');
    const spec = { ...body.spec, priorityClassName: 'system-node-critical' };
    const created = await cluster.api.core.createNamespacedPod({ namespace: 'default', body: { ...body, spec } });
    expect(created.spec?.priority).toBe(2_000_001_000);
  });
});

describe('get and list', () => {
  it.each([
    { query: 'limit=500', code: 200 },
    { query: 'resourceVersion=0', code: 200 },
    { query: 'resourceVersion=2&resourceVersionMatch=NotOlderThan', code: 200 },
    { query: 'resourceVersion=2&resourceVersionMatch=Exact', code: 200 },
    { query: 'resourceVersion=2&resourceVersionMatch=Older', code: 422 },
    { query: 'resourceVersionMatch=Exact', code: 422 },
    { query: 'resourceVersion=99999999', code: 504 },
    { query: 'resourceVersion=abc', code: 500 },
    { query: 'fieldSelector=spec.providerID%3Dx', code: 400 },
    { query: 'labelSelector=a%20b', code: 400 },
  ])('answers a list with $query with $code', async ({ query, code }) => {
    const answer = await cluster.raw('GET', `/api/v1/nodes?labelSelector=list&${query}`);
    const last = await cluster.raw('GET', `/api/v1/nodes?${query}`);
    expect([answer.code, last.code]).toContain(code);
    expect(last.code).toBe(code);
  });
});

describe('a patch of a kind that only a real API server has', () => {
  it('is answered with 501', async () => {
    const headers = { 'Content-Type': 'application/apply-patch+yaml' };
    expect(await cluster.raw('PATCH', '/api/v1/nodes/any', { body: '{}', headers })).toMatchObject({ code: 501 });
  });
});

describe('what Go leaves out', () => {
  it('is left out of built-in objects: empty lists, and fractions of seconds', async () => {
    const taint = { key: 'a', effect: 'NoSchedule', timeAdded: new Date('2026-01-02T03:04:05.678Z') };
    await cluster.api.core.createNode({
      body: { metadata: { name: 'tainted', labels: {} }, spec: { taints: [taint] } },
    });
    const before = await cluster.raw('GET', '/api/v1/nodes/tainted');
    expect(before.body).toHaveProperty('spec.taints.0.timeAdded', '2026-01-02T03:04:05Z');
    expect(before.body).not.toHaveProperty('metadata.labels');
    await cluster.api.core.patchNode({ name: 'tainted', body: [{ op: 'remove', path: '/spec/taints' }] }, jsonPatch);
    const after = await cluster.raw('GET', '/api/v1/nodes/tainted');
    expect(after.body).toHaveProperty('spec', {});
  });
});
