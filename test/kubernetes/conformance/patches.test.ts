import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import type { ConformanceServer } from './conformanceServer.js';
import { startConformanceServer } from './conformanceServer.js';
import { metadataOf } from './metadata.js';

let server: ConformanceServer;

beforeAll(async () => {
  server = await startConformanceServer();
});

afterAll(async () => {
  await server.close();
});

const mediaTypes = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
} as const;

const patch = (path: string, type: keyof typeof mediaTypes, body: unknown) =>
  server.send('PATCH', path, body, { 'Content-Type': mediaTypes[type] });

async function createNode(name: string, more: Record<string, unknown> = {}): Promise<string> {
  const path = `/api/v1/nodes/${server.own}-${name}`;
  const metadata = { name: `${server.own}-${name}`, labels: { keep: 'yes', drop: 'no' } };
  await server.send('POST', '/api/v1/nodes', { metadata, ...more });
  return path;
}

const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

describe('a merge patch', () => {
  it('merges objects, replaces lists, and removes what is null', async () => {
    const path = await createNode('merge', { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } });
    const { code, body } = await patch(path, 'merge', {
      metadata: { labels: { drop: null, add: 'it' } },
      spec: { taints: [{ key: 'b', effect: 'NoExecute' }] },
    });
    expect(code).toBe(200);
    expect(body).toMatchObject({ spec: { taints: [{ key: 'b', effect: 'NoExecute' }] } });
    expect(body).toHaveProperty('metadata.labels', { keep: 'yes', add: 'it' });
  });

  it('r044: with the resourceVersion that was read is a conflict when another one wrote meanwhile', async () => {
    const path = await createNode('merge-conflict');
    const { resourceVersion } = metadataOf((await server.send('GET', path)).body);
    await patch(path, 'merge', { metadata: { labels: { other: 'writer' } } });
    const { code, body } = await patch(path, 'merge', { metadata: { resourceVersion, labels: { mine: 'too' } } });
    expect(code).toBe(409);
    expect(body).toMatchObject({ reason: 'Conflict', details: { kind: 'nodes' } });
    expect((await server.send('GET', path)).body).not.toHaveProperty('metadata.labels.mine');
  });

  it('that changes nothing leaves the resourceVersion', async () => {
    const path = await createNode('merge-nothing');
    const { resourceVersion } = metadataOf((await server.send('GET', path)).body);
    const { body } = await patch(path, 'merge', { metadata: { labels: { keep: 'yes' } } });
    expect(metadataOf(body).resourceVersion).toBe(resourceVersion);
  });

  it('of what is not there is 404', async () => {
    expect((await patch('/api/v1/nodes/not-there', 'merge', {})).code).toBe(404);
  });
});

describe('a JSON patch', () => {
  it('r130: applies only where its test holds, so that no taint of another writer is lost', async () => {
    const path = await createNode('json', { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } });
    const taints = [{ key: 'a', effect: 'NoSchedule' }, notReady];
    const add = { op: 'add', path: '/spec/taints/-', value: { key: 'mine', effect: 'NoSchedule' } };
    const first = await patch(path, 'json', [{ op: 'test', path: '/spec/taints', value: taints }, add]);
    expect(first.body).toMatchObject({ spec: { taints: [...taints, { key: 'mine', effect: 'NoSchedule' }] } });
    const second = await patch(path, 'json', [{ op: 'test', path: '/spec/taints', value: taints }, add]);
    expect(second).toMatchObject({
      code: 422,
      body: { reason: 'Invalid', message: 'the server rejected our request due to an error in our request' },
    });
  });

  it('escapes the keys of labels', async () => {
    const path = await createNode('json-escape');
    const { body } = await patch(path, 'json', [
      { op: 'add', path: '/metadata/labels/driftless.dev~1owner', value: 'me' },
      { op: 'remove', path: '/metadata/labels/drop' },
      { op: 'replace', path: '/metadata/labels/keep', value: 'still' },
    ]);
    expect(body).toHaveProperty('metadata.labels', { 'driftless.dev/owner': 'me', keep: 'still' });
  });

  it.each([
    { why: 'removes what is not there', operations: [{ op: 'remove', path: '/metadata/labels/none' }], code: 422 },
    { why: 'adds below what is not there', operations: [{ op: 'add', path: '/spec/none/b', value: 1 }], code: 422 },
    { why: 'is no list', operations: { op: 'remove', path: '/spec' }, code: 400 },
  ])('that $why is refused', async ({ operations, code }) => {
    const path = await createNode('json-refused');
    expect((await patch(path, 'json', operations)).code).toBe(code);
  });
});

describe('a strategic merge patch', () => {
  it('merges labels and annotations, replaces taints', async () => {
    const path = await createNode('strategic', { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } });
    const { code, body } = await patch(path, 'strategic', {
      metadata: { labels: { drop: null }, annotations: { note: 'x' } },
      spec: { unschedulable: true, taints: [{ key: 'b', effect: 'NoExecute' }] },
    });
    expect(code).toBe(200);
    expect(body).toMatchObject({
      metadata: { annotations: { note: 'x' } },
      spec: { unschedulable: true, taints: [{ key: 'b', effect: 'NoExecute' }] },
    });
    expect(body).toHaveProperty('metadata.labels', { keep: 'yes' });
    const cleared = await patch(path, 'strategic', { spec: { unschedulable: null, taints: null } });
    expect(cleared.body).not.toHaveProperty('spec.unschedulable');
    expect(cleared.body).not.toHaveProperty('spec.taints');
  });

  it('merges conditions by their type, those of the patch first, and removes one', async () => {
    const path = await createNode('strategic-conditions');
    const at = '2026-01-01T00:00:00Z';
    const condition = (type: string, status: string) => ({
      type,
      status,
      lastHeartbeatTime: at,
      lastTransitionTime: at,
    });
    await patch(`${path}/status`, 'strategic', {
      status: { conditions: [condition('Ready', 'False'), condition('DiskPressure', 'False')] },
    });
    const second = await patch(`${path}/status`, 'strategic', {
      status: { conditions: [condition('PIDPressure', 'False'), condition('Ready', 'True')] },
    });
    expect(second.body).toHaveProperty(
      'status.conditions',
      ['PIDPressure=False', 'Ready=True', 'DiskPressure=False'].map((each) => {
        const [type, status] = each.split('=');
        return { type, status, lastHeartbeatTime: at, lastTransitionTime: at };
      }),
    );
    const third = await patch(`${path}/status`, 'strategic', {
      status: { conditions: [{ type: 'DiskPressure', $patch: 'delete' }] },
    });
    expect(third.body).toMatchObject({ status: { conditions: [{ type: 'PIDPressure' }, { type: 'Ready' }] } });
  });

  it('merges containers and their variables by name, in the order that it says', async () => {
    const deployments = `/apis/apps/v1/namespaces/${server.own}/deployments`;
    const labels = { app: 'web' };
    const container = { name: 'main', image: 'app:1', env: [{ name: 'A', value: '1' }] };
    const spec = {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
    };
    await server.send('POST', deployments, { metadata: { name: 'web' }, spec });
    const { code, body } = await patch(`${deployments}/web`, 'strategic', {
      spec: {
        template: {
          spec: {
            '$setElementOrder/containers': [{ name: 'side' }, { name: 'main' }],
            containers: [
              { name: 'side', image: 'side:1' },
              { name: 'main', image: 'app:2', env: [{ name: 'B', value: '2' }] },
            ],
          },
        },
      },
    });
    expect(code).toBe(200);
    expect(body).toMatchObject({
      metadata: { generation: 2 },
      spec: {
        template: {
          spec: {
            containers: [
              { name: 'side', image: 'side:1' },
              {
                name: 'main',
                image: 'app:2',
                env: [
                  { name: 'B', value: '2' },
                  { name: 'A', value: '1' },
                ],
              },
            ],
          },
        },
      },
    });
  });

  it('merges finalizers, and deletes from them', async () => {
    const configMaps = `/api/v1/namespaces/${server.own}/configmaps`;
    await server.send('POST', configMaps, { metadata: { name: 'held', finalizers: ['example.com/a'] } });
    const added = await patch(`${configMaps}/held`, 'strategic', { metadata: { finalizers: ['example.com/b'] } });
    expect(metadataOf(added.body).finalizers?.sort()).toEqual(['example.com/a', 'example.com/b']);
    const removed = await patch(`${configMaps}/held`, 'strategic', {
      metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/a', 'example.com/b'] },
    });
    expect(metadataOf(removed.body).finalizers).toBeUndefined();
  });

  it('replaces an object, or removes it, where it says so', async () => {
    const path = await createNode('strategic-replace');
    const replaced = await patch(path, 'strategic', { metadata: { labels: { $patch: 'replace', only: 'this' } } });
    expect(replaced.body).toHaveProperty('metadata.labels', { only: 'this' });
    const removed = await patch(path, 'strategic', { metadata: { labels: { $patch: 'delete' } } });
    expect(removed.body).not.toHaveProperty('metadata.labels');
  });

  it('is refused for a custom resource', async () => {
    const { code, body } = await patch('/apis/karpenter.sh/v1/nodepools/any', 'strategic', {});
    expect(code).toBe(415);
    expect(body).toMatchObject({
      reason: 'UnsupportedMediaType',
      message:
        'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
    });
  });
});

describe('a patch', () => {
  it('of an unknown type is refused', async () => {
    const answer = await server.send('PATCH', '/api/v1/nodes/any', {}, { 'Content-Type': 'text/plain' });
    expect(answer.code).toBe(415);
  });

  it('cannot change uid or name', async () => {
    const path = await createNode('identity');
    expect(await patch(path, 'merge', { metadata: { uid: 'other' } })).toMatchObject({
      code: 422,
      body: { message: expect.stringContaining('metadata.uid: Invalid value: "other": field is immutable') },
    });
    expect((await patch(path, 'merge', { metadata: { name: 'other' } })).code).toBe(400);
  });
});
