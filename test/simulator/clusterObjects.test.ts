import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { jsonPatch, mergePatch } from '../../activities/kubernetes/kubernetesApi.js';
import type { TestCluster } from './clusterFixture.js';
import { failureOf, nodeClaimOf, nodeClaims, nodePools, podOf, startCluster } from './clusterFixture.js';

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await startCluster();
});

afterAll(async () => {
  await cluster.simulator.close();
});

function configMap(name: string, data: Record<string, string> = {}) {
  return { metadata: { name }, data };
}

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
  it('fills in what only the server knows', async () => {
    const created = await cluster.api.core.createNamespacedPod({ namespace: 'default', body: podOf('fresh') });
    expect(created.metadata).toMatchObject({
      name: 'fresh',
      namespace: 'default',
      generation: 1,
      uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      resourceVersion: expect.stringMatching(/^\d+$/),
    });
    expect(created.status).toEqual(expect.objectContaining({ phase: 'Pending', qosClass: 'BestEffort' }));
    expect(created.spec).toMatchObject({ terminationGracePeriodSeconds: 30, priority: 0 });
    const { body } = await cluster.raw('GET', '/api/v1/namespaces/default/pods/fresh');
    expect(body).toMatchObject({
      metadata: { creationTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) },
    });
  });

  it('generates names in the alphabet of Kubernetes', async () => {
    const body = { metadata: { generateName: 'made-' } };
    const one = await cluster.api.core.createNamespacedConfigMap({ namespace: 'default', body });
    const other = await cluster.api.core.createNamespacedConfigMap({ namespace: 'default', body });
    expect(one.metadata?.name).toMatch(/^made-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    expect(other.metadata?.name).not.toBe(one.metadata?.name);
  });

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

  const refusals = [
    {
      why: 'a namespace that does not exist',
      call: () => cluster.api.core.createNamespacedConfigMap({ namespace: 'nowhere', body: configMap('a') }),
      status: {
        code: 404,
        reason: 'NotFound',
        message: 'namespaces "nowhere" not found',
        details: { name: 'nowhere', kind: 'namespaces' },
      },
    },
    {
      why: 'a name that is taken',
      call: () => cluster.api.core.createNode({ body: { metadata: { name: 'with-status' } } }),
      status: {
        code: 409,
        reason: 'AlreadyExists',
        message: 'nodes "with-status" already exists',
        details: { name: 'with-status', kind: 'nodes' },
      },
    },
    {
      why: 'a name that is no DNS subdomain',
      call: () => cluster.api.core.createNode({ body: { metadata: { name: 'Not_Good' } } }),
      status: {
        code: 422,
        reason: 'Invalid',
        message: expect.stringMatching(
          /^Node "Not_Good" is invalid: metadata.name: Invalid value: "Not_Good": a lowercase RFC 1123 subdomain must/,
        ),
        details: { name: 'Not_Good', kind: 'Node', causes: [{ reason: 'FieldValueInvalid', field: 'metadata.name' }] },
      },
    },
    {
      why: 'a label that is none',
      call: () => cluster.api.core.createNode({ body: { metadata: { name: 'labelled', labels: { a: 'b/c' } } } }),
      status: { code: 422, details: { causes: [{ field: 'metadata.labels' }] } },
    },
    {
      why: 'no name',
      call: () => cluster.api.core.createNode({ body: {} }),
      status: { code: 422, details: { causes: [{ reason: 'FieldValueRequired', field: 'metadata.name' }] } },
    },
    {
      why: 'another namespace than the one of the path',
      call: () =>
        cluster.api.core.createNamespacedConfigMap({
          namespace: 'default',
          body: { metadata: { name: 'a', namespace: 'kube-system' } },
        }),
      status: {
        code: 400,
        message: 'the namespace of the provided object does not match the namespace sent on the request',
      },
    },
    {
      why: 'a NodeClaim without its requirements',
      call: () =>
        cluster.api.custom.createClusterCustomObject({
          ...nodeClaims,
          body: { ...nodeClaimOf('short'), spec: { nodeClassRef: {} } },
        }),
      status: {
        code: 422,
        message: 'NodeClaim.karpenter.sh "short" is invalid: spec.requirements: Required value',
      },
    },
    {
      why: 'a pod of an unknown priority class',
      call: () =>
        cluster.api.core.createNamespacedPod({
          namespace: 'default',
          body: { metadata: { name: 'p' }, spec: { priorityClassName: 'vip', containers: [{ name: 'a' }] } },
        }),
      status: { code: 403, message: 'pods "p" is forbidden: no PriorityClass with name vip was found' },
    },
    {
      why: 'an event in another namespace than that of its object',
      call: () =>
        cluster.api.core.createNamespacedEvent({
          namespace: 'kube-system',
          body: { metadata: { name: 'e' }, involvedObject: { kind: 'NodeClaim', name: 'a' } },
        }),
      status: { code: 422, details: { causes: [{ field: 'involvedObject.namespace' }] } },
    },
  ];
  it.each(refusals)('refuses $why', async ({ call, status }) => {
    expect(await failureOf(call())).toMatchObject({ kind: 'Status', apiVersion: 'v1', status: 'Failure', ...status });
  });
});

describe('get and list', () => {
  beforeAll(async () => {
    for (const [name, zone] of [
      ['list-a', '1'],
      ['list-b', '2'],
      ['list-c', '3'],
    ] as const) {
      await cluster.api.core.createNode({ body: { metadata: { name, labels: { zone, list: 'yes' } } } });
    }
    for (const [name, nodeName] of [
      ['on-a', 'list-a'],
      ['on-b', 'list-b'],
    ] as const) {
      const body = podOf(name, { nodeName });
      await cluster.api.core.createNamespacedPod({ namespace: 'kube-public', body });
    }
  });

  it('says what is not there', async () => {
    expect(await failureOf(cluster.api.custom.getClusterCustomObject({ ...nodeClaims, name: 'x' }))).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'nodeclaims.karpenter.sh "x" not found',
      reason: 'NotFound',
      details: { name: 'x', group: 'karpenter.sh', kind: 'nodeclaims' },
      code: 404,
    });
  });

  it.each([
    { labelSelector: 'list=yes', names: ['list-a', 'list-b', 'list-c'] },
    { labelSelector: 'list=yes,zone==2', names: ['list-b'] },
    { labelSelector: 'list,zone!=2', names: ['list-a', 'list-c'] },
    { labelSelector: 'zone in (1, 3),list', names: ['list-a', 'list-c'] },
    { labelSelector: 'zone notin (1,3),list=yes', names: ['list-b'] },
    { labelSelector: 'list,!zone', names: [] },
    { labelSelector: 'list,zone>1', names: ['list-b', 'list-c'] },
  ])('selects by labels: $labelSelector', async ({ labelSelector, names }) => {
    const { items } = await cluster.api.core.listNode({ labelSelector });
    expect(items.map((item) => item.metadata?.name)).toEqual(names);
  });

  it.each([
    { fieldSelector: 'spec.nodeName=list-a', names: ['on-a'] },
    { fieldSelector: 'spec.nodeName!=list-a,metadata.namespace=kube-public', names: ['on-b'] },
    { fieldSelector: 'metadata.name=on-b,status.phase=Pending', names: ['on-b'] },
    { fieldSelector: 'spec.nodeName=list-a,status.phase=Running', names: [] },
  ])('selects pods by fields: $fieldSelector', async ({ fieldSelector, names }) => {
    const { items } = await cluster.api.core.listPodForAllNamespaces({ fieldSelector });
    expect(items.map((item) => item.metadata?.name)).toEqual(names);
  });

  it('selects events by the object that they are about', async () => {
    for (const [name, uid] of [
      ['one', 'u1'],
      ['two', 'u2'],
    ] as const) {
      const body = { metadata: { name }, involvedObject: { kind: 'NodeClaim', name: 'a', uid }, reason: 'Because' };
      await cluster.api.core.createNamespacedEvent({ namespace: 'default', body });
    }
    const { items } = await cluster.api.core.listNamespacedEvent({
      namespace: 'default',
      fieldSelector: 'involvedObject.uid=u2,involvedObject.kind=NodeClaim',
    });
    expect(items.map((item) => item.metadata.name)).toEqual(['two']);
  });

  it('keeps namespaces apart', async () => {
    const { items } = await cluster.api.core.listNamespacedPod({ namespace: 'kube-public' });
    expect(items.map((item) => item.metadata?.name)).toEqual(['on-a', 'on-b']);
    expect((await cluster.api.core.listNamespacedPod({ namespace: 'kube-system' })).items).toEqual([]);
  });

  it('leaves kind and apiVersion out of the items of typed lists only', async () => {
    const nodes = await cluster.raw('GET', '/api/v1/nodes?labelSelector=zone%3D1');
    expect(nodes.body).toMatchObject({ kind: 'NodeList', apiVersion: 'v1', items: [{ metadata: { name: 'list-a' } }] });
    expect(nodes.body).not.toHaveProperty('items.0.kind');
    await cluster.api.custom.createClusterCustomObject({ ...nodeClaims, body: nodeClaimOf('listed') });
    const claims = await cluster.raw('GET', '/apis/karpenter.sh/v1/nodeclaims?fieldSelector=metadata.name%3Dlisted');
    expect(claims.body).toMatchObject({
      kind: 'NodeClaimList',
      items: [{ kind: 'NodeClaim', apiVersion: 'karpenter.sh/v1' }],
    });
  });

  it.each([
    { query: 'limit=2', code: 501 },
    { query: 'limit=500', code: 200 },
    { query: 'continue=abc', code: 501 },
    { query: 'resourceVersion=0', code: 200 },
    { query: 'resourceVersion=2&resourceVersionMatch=NotOlderThan', code: 200 },
    { query: 'resourceVersion=2&resourceVersionMatch=Exact', code: 501 },
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

describe('replace', () => {
  it('is refused with the words of the API server when the object has changed meanwhile', async () => {
    const created = await cluster.api.core.createNamespacedConfigMap({ namespace: 'default', body: configMap('rep') });
    const body = { metadata: created.metadata, data: { a: '1' } };
    await cluster.api.core.replaceNamespacedConfigMap({ name: 'rep', namespace: 'default', body });
    const again = cluster.api.core.replaceNamespacedConfigMap({ name: 'rep', namespace: 'default', body });
    expect(await failureOf(again)).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on configmaps "rep": the object has been modified; please apply your changes to the latest version and try again',
      details: { name: 'rep', kind: 'configmaps' },
    });
  });

  it('does not create', async () => {
    const call = cluster.api.core.replaceNode({ name: 'none', body: { metadata: { name: 'none' } } });
    expect(await failureOf(call)).toMatchObject({ code: 404, message: 'nodes "none" not found' });
  });

  it('without a resourceVersion overwrites built-in objects, but no custom ones', async () => {
    await cluster.api.core.createNamespacedConfigMap({ namespace: 'default', body: configMap('force') });
    const body = configMap('force', { a: '2' });
    const replaced = await cluster.api.core.replaceNamespacedConfigMap({ name: 'force', namespace: 'default', body });
    expect(replaced.data).toEqual({ a: '2' });
    await cluster.api.custom.createClusterCustomObject({ ...nodeClaims, body: nodeClaimOf('force') });
    const custom = cluster.api.custom.replaceClusterCustomObject({
      ...nodeClaims,
      name: 'force',
      body: nodeClaimOf('force'),
    });
    expect(await failureOf(custom)).toMatchObject({
      code: 422,
      message:
        'nodeclaims.karpenter.sh "force" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    });
  });

  it.each([
    { why: 'another name', metadata: { name: 'other' }, code: 400 },
    { why: 'another UID', metadata: { name: 'force', uid: 'another' }, code: 409 },
  ])('refuses $why', async ({ metadata, code }) => {
    const call = cluster.api.core.replaceNamespacedConfigMap({
      name: 'force',
      namespace: 'default',
      body: { metadata },
    });
    expect(await failureOf(call)).toMatchObject({ code });
  });
});

interface Written {
  readonly metadata: { readonly resourceVersion: string; readonly generation: number };
}

function asWritten(value: unknown): Written {
  expect(value).toHaveProperty('metadata.resourceVersion', expect.any(String));
  expect(value).toHaveProperty('metadata.generation', expect.any(Number));
  const metadata: unknown = Reflect.get(Object(value), 'metadata');
  return {
    metadata: {
      resourceVersion: String(Reflect.get(Object(metadata), 'resourceVersion')),
      generation: Number(Reflect.get(Object(metadata), 'generation')),
    },
  };
}

describe('patch', () => {
  const name = 'patched';
  const pool = {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name },
    spec: { weight: 1, template: {} },
  };
  const patchPool = (body: unknown, options = mergePatch) =>
    cluster.api.custom.patchClusterCustomObject({ ...nodePools, name, body }, options);
  const patchStatus = (body: unknown, options = mergePatch) =>
    cluster.api.custom.patchClusterCustomObjectStatus({ ...nodePools, name, body }, options);

  beforeAll(async () => {
    await cluster.api.custom.createClusterCustomObject({ ...nodePools, body: pool });
  });

  it('merges, and removes what is null', async () => {
    await patchPool({ metadata: { annotations: { a: '1', b: '2' } } });
    const patched: unknown = await patchPool({ metadata: { annotations: { a: null } } });
    expect(patched).toHaveProperty('metadata.annotations', { b: '2' });
  });

  it('applies JSON patches, all of their operations or none', async () => {
    const patched: unknown = await patchPool(
      [
        { op: 'test', path: '/spec/weight', value: 1 },
        { op: 'replace', path: '/spec/weight', value: 5 },
        { op: 'add', path: '/metadata/labels', value: { 'example.com/x': 'y' } },
      ],
      jsonPatch,
    );
    expect(patched).toMatchObject({ spec: { weight: 5 }, metadata: { labels: { 'example.com/x': 'y' } } });
    const failing = patchPool(
      [
        { op: 'remove', path: '/metadata/labels/example.com~1x' },
        { op: 'test', path: '/spec/weight', value: 1 },
      ],
      jsonPatch,
    );
    expect(await failureOf(failing)).toMatchObject({
      code: 422,
      reason: 'Invalid',
      message: 'the server rejected our request due to an error in our request',
    });
    const untouched: unknown = await cluster.api.custom.getClusterCustomObject({ ...nodePools, name });
    expect(untouched).toHaveProperty('metadata.labels', { 'example.com/x': 'y' });
  });

  it.each([
    { op: 'remove', path: '/spec/none' },
    { op: 'replace', path: '/spec/none', value: 1 },
    { op: 'add', path: '/none/none', value: 1 },
    { op: 'add', path: 'spec', value: 1 },
  ])('refuses $op at $path', async (operation) => {
    expect(await failureOf(patchPool([operation], jsonPatch))).toMatchObject({ code: 422 });
  });

  it('takes a resourceVersion in the patch as a precondition', async () => {
    const before = asWritten(await patchPool({ spec: { weight: 7 } }));
    const { resourceVersion } = before.metadata;
    await patchPool({ metadata: { resourceVersion }, spec: { weight: 8 } });
    const late = patchPool({ metadata: { resourceVersion }, spec: { weight: 9 } });
    expect(await failureOf(late)).toMatchObject({ code: 409, reason: 'Conflict' });
  });

  it('counts changes of the spec in the generation, and nothing else', async () => {
    const before = asWritten(await patchPool({ spec: { weight: 20 } }));
    const labelled = asWritten(await patchPool({ metadata: { labels: { c: 'd' } } }));
    expect(labelled.metadata.generation).toBe(before.metadata.generation);
    const changed = asWritten(await patchPool({ spec: { weight: 21 } }));
    expect(changed.metadata.generation).toBe(before.metadata.generation + 1);
    const status = asWritten(await patchStatus({ status: { nodes: 3 } }));
    expect(status.metadata.generation).toBe(changed.metadata.generation);
    expect(Number(status.metadata.resourceVersion)).toBeGreaterThan(Number(changed.metadata.resourceVersion));
  });

  it('that changes nothing leaves the resourceVersion', async () => {
    const before = asWritten(await patchPool({ spec: { weight: 30 } }));
    const after = asWritten(await patchPool({ spec: { weight: 30 } }));
    expect(after.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
  });

  it('of the status changes only that in custom objects, and no other patch does', async () => {
    const status = { status: { nodes: 4 }, spec: { weight: 99 }, metadata: { labels: { sneaky: 'yes' } } };
    const patched: unknown = await patchStatus(status);
    expect(patched).toMatchObject({ status: { nodes: 4 }, spec: { weight: 30 } });
    expect(patched).not.toHaveProperty('metadata.labels.sneaky');
    expect(await patchPool({ status: { nodes: 5 } })).toMatchObject({ status: { nodes: 4 } });
  });

  it('of the status of a built-in object can change its labels, but not its spec', async () => {
    await cluster.api.core.createNode({ body: { metadata: { name: 'node-status' }, spec: { providerID: 'a' } } });
    const body = { metadata: { labels: { seen: 'yes' } }, spec: { providerID: 'b' }, status: { phase: 'x' } };
    const patched = await cluster.api.core.patchNodeStatus({ name: 'node-status', body }, mergePatch);
    expect(patched).toMatchObject({
      metadata: { labels: { seen: 'yes' } },
      spec: { providerID: 'a' },
      status: { phase: 'x' },
    });
  });

  it('demands of the conditions of custom objects what their CRDs demand', async () => {
    const conditions = [{ type: 'Ready', status: 'True' }];
    expect(await failureOf(patchStatus({ status: { conditions } }))).toMatchObject({
      code: 422,
      message: 'NodePool.karpenter.sh "patched" is invalid: status.conditions[0].lastTransitionTime: Required value',
    });
  });

  it('never changes the spec of a NodeClaim', async () => {
    await cluster.api.custom.createClusterCustomObject({ ...nodeClaims, body: nodeClaimOf('fixed') });
    const call = cluster.api.custom.patchClusterCustomObject(
      { ...nodeClaims, name: 'fixed', body: { spec: { expireAfter: '1h' } } },
      mergePatch,
    );
    expect(await failureOf(call)).toMatchObject({
      code: 422,
      message: 'NodeClaim.karpenter.sh "fixed" is invalid: spec: Invalid value: spec is immutable',
    });
  });

  it('never changes the UID', async () => {
    expect(await failureOf(patchPool({ metadata: { uid: 'x' } }))).toMatchObject({
      code: 422,
      message: 'NodePool.karpenter.sh "patched" is invalid: metadata.uid: Invalid value: "x": field is immutable',
    });
  });

  it.each([
    { path: '/api/v1/nodes/node-status', type: 'application/strategic-merge-patch+json', code: 501 },
    { path: '/api/v1/nodes/node-status', type: 'application/apply-patch+yaml', code: 501 },
    { path: '/api/v1/nodes/node-status', type: 'application/json', code: 415 },
    { path: '/apis/karpenter.sh/v1/nodepools/patched', type: 'application/strategic-merge-patch+json', code: 415 },
  ])('of type $type to $path is answered with $code', async ({ path, type, code }) => {
    const answer = await cluster.raw('PATCH', path, { body: '{}', headers: { 'Content-Type': type } });
    expect(answer).toMatchObject({ code, body: { kind: 'Status', status: 'Failure', code } });
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
    await cluster.api.core.patchNode({ name: 'tainted', body: [{ op: 'remove', path: '/spec/taints/0' }] }, jsonPatch);
    const after = await cluster.raw('GET', '/api/v1/nodes/tainted');
    expect(after.body).toHaveProperty('spec', {});
  });
});
