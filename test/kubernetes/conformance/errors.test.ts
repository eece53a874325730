import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import type { ConformanceServer } from './conformanceServer.js';
import { startConformanceServer } from './conformanceServer.js';

let server: ConformanceServer;

beforeAll(async () => {
  server = await startConformanceServer();
});

afterAll(async () => {
  await server.close();
});

describe('what is refused', () => {
  const cases: readonly {
    why: string;
    method: string;
    path: string;
    body?: string;
    headers?: Record<string, string>;
    status: Record<string, unknown>;
  }[] = [
    {
      why: 'a wrong token',
      method: 'GET',
      path: '/api/v1/nodes',
      headers: { Authorization: 'Bearer wrong' },
      status: { code: 401, reason: 'Unauthorized', message: 'Unauthorized' },
    },
    {
      why: 'a method that an object does not have',
      method: 'POST',
      path: '/api/v1/nodes/a',
      status: {
        code: 405,
        reason: 'MethodNotAllowed',
        message: 'the server does not allow this method on the requested resource',
      },
    },
    { why: 'creating in all namespaces', method: 'POST', path: '/api/v1/pods', status: { code: 405 } },
    {
      why: 'nodes in a namespace',
      method: 'GET',
      path: '/api/v1/namespaces/default/nodes',
      status: { code: 404, reason: 'NotFound', message: 'the server could not find the requested resource' },
    },
    {
      why: 'a body that is no JSON',
      method: 'POST',
      path: '/api/v1/nodes',
      body: '{"metadata":',
      status: { code: 400, reason: 'BadRequest' },
    },
    {
      why: 'a custom object without its kind',
      method: 'POST',
      path: '/apis/karpenter.sh/v1/nodepools',
      body: '{"metadata":{"name":"a"}}',
      status: { code: 400, reason: 'BadRequest' },
    },
    {
      why: 'an unknown format',
      method: 'POST',
      path: '/api/v1/nodes',
      body: 'a=b',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      status: { code: 415, reason: 'UnsupportedMediaType' },
    },
    {
      why: 'an answer in a format that there is not',
      method: 'GET',
      path: '/api/v1/nodes',
      headers: { Accept: 'image/png' },
      status: { code: 406, reason: 'NotAcceptable' },
    },
    {
      why: 'a body that is too large',
      method: 'POST',
      path: '/api/v1/nodes',
      body: `"${'x'.repeat(3 * 1024 * 1024)}"`,
      status: { code: 413, reason: 'RequestEntityTooLarge', message: 'Request entity too large: limit is 3145728' },
    },
  ];
  it.each(cases)('$method $path: $why', async ({ method, path, body, headers, status }) => {
    const answer = await server.send(method, path, body, headers);
    expect(answer.code).toBe(status['code']);
    expect(answer.body).toMatchObject({ kind: 'Status', apiVersion: 'v1', status: 'Failure', ...status });
  });

  it.each(['/apis/karpenter.sh/v1/nodething', '/apis/nothing.example.com/v1', '/nowhere'])(
    'GET %s: a path that nobody has, without a Status',
    async (path) => {
      expect(await server.send('GET', path)).toMatchObject({ code: 404, body: '404 page not found\n' });
    },
  );
});
