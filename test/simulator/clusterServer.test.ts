import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import type { ClusterRequest, TestCluster } from './clusterFixture.js';
import { podOf, startCluster } from './clusterFixture.js';

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await startCluster();
});

afterAll(async () => {
  await cluster.simulator.close();
});

describe('what the server refuses', () => {
  const cases: readonly {
    method: string;
    path: string;
    why: string;
    request?: ClusterRequest;
    status: Record<string, unknown>;
  }[] = [
    {
      method: 'GET',
      path: '/api/v1/nodes',
      why: 'no token',
      request: { token: undefined },
      status: { code: 401, reason: 'Unauthorized', message: 'Unauthorized' },
    },
    {
      method: 'GET',
      path: '/api/v1/nodes',
      why: 'a wrong token',
      request: { token: 'secret-of-the-tesT' },
      status: { code: 401, reason: 'Unauthorized' },
    },
    { method: 'GET', path: '/nowhere', why: 'no token, no path', request: { token: '' }, status: { code: 401 } },
    {
      method: 'POST',
      path: '/api/v1/nodes/a',
      why: 'a method that an object does not have',
      status: {
        code: 405,
        reason: 'MethodNotAllowed',
        message: 'the server does not allow this method on the requested resource',
      },
    },
    { method: 'PUT', path: '/api/v1/nodes', why: 'a method that a collection does not have', status: { code: 405 } },
    { method: 'POST', path: '/api/v1/pods', why: 'creating in all namespaces', status: { code: 405 } },
    { method: 'GET', path: '/api/v1/pods/a', why: 'a pod without its namespace', status: { code: 404 } },
    { method: 'GET', path: '/api/v1/namespaces/default/nodes', why: 'nodes in a namespace', status: { code: 404 } },
    { method: 'GET', path: '/api/v1/nodes/%zz', why: 'a broken path', status: { code: 400 } },
    { method: 'GET', path: '//', why: 'a path that is none', status: { code: 500 } },
    { method: 'GET', path: '/api/v1/services', why: 'a resource that only a real one has', status: { code: 501 } },
    {
      method: 'GET',
      path: '/apis/batch/v1/jobs',
      why: 'a group that only a real one has',
      status: { code: 501 },
    },
    { method: 'GET', path: '/api/v1/watch/nodes', why: 'an old watch path', status: { code: 501 } },
    { method: 'GET', path: '/api/v1/namespaces/default/pods/a/log', why: 'the log of a pod', status: { code: 501 } },
    {
      method: 'POST',
      path: '/api/v1/nodes?dryRun=All',
      why: 'a dry run',
      request: { body: '{}' },
      status: { code: 501 },
    },
    {
      method: 'POST',
      path: '/api/v1/nodes',
      why: 'a body that is no JSON',
      request: { body: '{"metadata":' },
      status: { code: 400, reason: 'BadRequest' },
    },
    {
      method: 'POST',
      path: '/api/v1/nodes',
      why: 'a label that is no text',
      request: { body: '{"metadata":{"name":"a","labels":{"x":1}}}' },
      status: { code: 400, message: expect.stringMatching(/^Node in version "v1" cannot be handled as a Node: /) },
    },
    {
      method: 'POST',
      path: '/api/v1/nodes',
      why: 'another kind',
      request: { body: '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}' },
      status: { code: 400 },
    },
    {
      method: 'POST',
      path: '/apis/apps/v1/namespaces/default/deployments',
      why: 'another version',
      request: { body: '{"kind":"Deployment","apiVersion":"apps/v1beta1","metadata":{"name":"a"}}' },
      status: {
        code: 400,
        message: 'the API version in the data (apps/v1beta1) does not match the expected API version (apps/v1)',
      },
    },
    {
      method: 'POST',
      path: '/apis/karpenter.sh/v1/nodepools',
      why: 'a custom object without its kind',
      request: { body: '{"metadata":{"name":"a"}}' },
      status: { code: 400 },
    },
    {
      method: 'POST',
      path: '/api/v1/nodes',
      why: 'an unknown format',
      request: { body: 'a=b', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } },
      status: { code: 415, reason: 'UnsupportedMediaType' },
    },
    {
      method: 'POST',
      path: '/api/v1/nodes',
      why: 'YAML',
      request: { body: 'a: b', headers: { 'Content-Type': 'application/yaml' } },
      status: { code: 501 },
    },
    {
      method: 'GET',
      path: '/api/v1/nodes',
      why: 'only protobuf wanted',
      request: { headers: { Accept: 'application/vnd.kubernetes.protobuf' } },
      status: { code: 406, reason: 'NotAcceptable' },
    },
    {
      method: 'GET',
      path: '/apis/apps/v1/deployments',
      why: 'a table of what has none here',
      request: { headers: { Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } },
      status: { code: 406 },
    },
    {
      method: 'POST',
      path: '/api/v1/nodes',
      why: 'a body that is too large',
      request: { body: `"${'x'.repeat(3 * 1024 * 1024)}"` },
      status: { code: 413, reason: 'RequestEntityTooLarge', message: 'Request entity too large: limit is 3145728' },
    },
  ];
  it.each(cases)('$method $path: $why', async ({ method, path, request, status }) => {
    const answer = await cluster.raw(method, path, request);
    expect(answer.code).toBe(status['code']);
    expect(answer.headers['content-type']).toBe('application/json');
    expect(answer.body).toMatchObject({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', ...status });
  });
});

describe('what the server accepts', () => {
  it.each([
    { accept: '*/*' },
    { accept: 'application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json' },
    { accept: 'application/vnd.kubernetes.protobuf, application/json;q=0.5' },
  ])('JSON for Accept: $accept', async ({ accept }) => {
    const answer = await cluster.raw('GET', '/api/v1/nodes', { headers: { Accept: accept } });
    expect(answer).toMatchObject({ code: 200, body: { kind: 'NodeList' } });
  });

  it.each(['/healthz', '/livez', '/readyz'])('%s from everybody', async (path) => {
    expect(await cluster.raw('GET', path, { token: undefined })).toMatchObject({ code: 200, body: 'ok' });
  });

  it('/version', async () => {
    expect(await cluster.raw('GET', '/version')).toMatchObject({ code: 200, body: { major: '1', minor: '36' } });
  });
});

describe('the audit log', () => {
  it('notes who did what with which outcome, and what then was', async () => {
    const before = cluster.simulator.audit.entries.length;
    const namespace = 'default';
    await cluster.api.core.createNamespacedPod({ namespace, body: podOf('noted') });
    await cluster.api.core.readNamespacedPod({ namespace, name: 'noted' });
    await cluster.api.core.deleteNamespacedPod({ namespace, name: 'noted' });
    await cluster.api.core.readNamespacedPod({ namespace, name: 'noted' }).catch(() => undefined);
    await cluster.api.core.listNamespacedPod({ namespace });
    const entries = cluster.simulator.audit.entries.slice(before);
    const common = { userAgent: 'cluster-test', group: '', resource: 'pods', namespace };
    expect(entries).toMatchObject([
      { ...common, verb: 'create', name: 'noted', status: 201, object: { metadata: { name: 'noted', generation: 1 } } },
      { ...common, verb: 'get', name: 'noted', status: 200 },
      { ...common, verb: 'delete', name: 'noted', status: 200, removed: true },
      { ...common, verb: 'get', name: 'noted', status: 404 },
      { ...common, verb: 'list', status: 200 },
    ]);
    expect(entries.every((entry) => entry.latencyMs >= 0)).toBe(true);
    const [created] = entries;
    expect(Object.isFrozen(created?.object)).toBe(true);
    expect(Object.isFrozen(created?.object?.['spec'])).toBe(true);
  });
});
