import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { eventually } from '../../support/eventually.js';
import type { ConformanceServer } from './conformanceServer.js';
import { startConformanceServer } from './conformanceServer.js';
import { metadataOf } from './metadata.js';

let server: ConformanceServer;
let configMaps: string;
let pods: string;

beforeAll(async () => {
  server = await startConformanceServer();
  configMaps = `/api/v1/namespaces/${server.own}/configmaps`;
  pods = `/api/v1/namespaces/${server.own}/pods`;
});

afterAll(async () => {
  await server.close();
});

const mergePatch = { 'Content-Type': 'application/merge-patch+json' };
const create = async (path: string, object: Record<string, unknown>) =>
  metadataOf((await server.send('POST', path, object)).body);

describe('finalizers', () => {
  it('keep an object that is being deleted, until the last one goes', async () => {
    await create(configMaps, { metadata: { name: 'held', finalizers: ['example.com/a', 'example.com/b'] } });
    const deleted = await server.send('DELETE', `${configMaps}/held`);
    expect(deleted).toMatchObject({ code: 200, body: { kind: 'ConfigMap' } });
    const { deletionTimestamp, deletionGracePeriodSeconds, resourceVersion } = metadataOf(deleted.body);
    expect(deletionTimestamp).toMatch(/Z$/);
    expect(deletionGracePeriodSeconds).toBe(0);
    const again = await server.send('DELETE', `${configMaps}/held`);
    expect(metadataOf(again.body)).toMatchObject({ deletionTimestamp, resourceVersion });
    const set = (finalizers: readonly string[]) =>
      server.send('PATCH', `${configMaps}/held`, { metadata: { finalizers } }, mergePatch);
    expect(await set(['example.com/a', 'example.com/c'])).toMatchObject({
      code: 422,
      body: {
        message:
          'ConfigMap "held" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/c"}',
      },
    });
    expect((await set(['example.com/b'])).code).toBe(200);
    expect((await server.send('POST', configMaps, { metadata: { name: 'held' } })).body).toMatchObject({
      code: 409,
      message: 'object is being deleted: configmaps "held" already exists',
    });
    expect((await set([])).code).toBe(200);
    expect((await server.send('GET', `${configMaps}/held`)).code).toBe(404);
  });

  it('count the deletion as a change of the spec', async () => {
    const nodeClaims = '/apis/karpenter.sh/v1/nodeclaims';
    const name = `${server.own}-claim`;
    const nodeClassRef = { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' };
    const metadata = { name, finalizers: ['karpenter.sh/termination'] };
    const object = {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodeClaim',
      metadata,
      spec: { nodeClassRef, requirements: [] },
    };
    expect((await create(nodeClaims, object)).generation).toBe(1);
    const { body } = await server.send('DELETE', `${nodeClaims}/${name}`);
    expect(metadataOf(body).generation).toBe(2);
    await server.send('PATCH', `${nodeClaims}/${name}`, { metadata: { finalizers: null } }, mergePatch);
    expect((await server.send('GET', `${nodeClaims}/${name}`)).code).toBe(404);
  });
});

describe('the grace of a pod', () => {
  const pod = (name: string, more: Record<string, unknown> = {}) => ({
    metadata: { name },
    spec: { nodeName: `${server.own}-node`, containers: [{ name: 'main', image: 'app:1' }], ...more },
  });

  it('is none when no node has it', async () => {
    await create(pods, pod('unbound', { nodeName: undefined }));
    const { code, body } = await server.send('DELETE', `${pods}/unbound`);
    expect(code).toBe(200);
    expect(body).toMatchObject({ kind: 'Pod', metadata: { name: 'unbound' } });
    expect((await server.send('GET', `${pods}/unbound`)).code).toBe(404);
  });

  it('is its own, and can only be shortened', async () => {
    await create(pods, pod('graceful', { terminationGracePeriodSeconds: 60 }));
    const remove = async (gracePeriodSeconds?: number) =>
      metadataOf((await server.send('DELETE', `${pods}/graceful`, { gracePeriodSeconds })).body);
    const first = await remove();
    expect(first.deletionGracePeriodSeconds).toBe(60);
    expect(Date.parse(first.deletionTimestamp ?? '')).toBeGreaterThan(Date.now() + 50_000);
    expect((await remove(90)).deletionGracePeriodSeconds).toBe(60);
    expect((await remove(20)).deletionGracePeriodSeconds).toBe(20);
    expect((await server.send('GET', `${pods}/graceful`)).code).toBe(200);
    await remove(0);
    expect((await server.send('GET', `${pods}/graceful`)).code).toBe(404);
  });

  it('is over at once for a pod that has ended', async () => {
    await create(pods, pod('ended'));
    await server.send('PATCH', `${pods}/ended/status`, { status: { phase: 'Succeeded' } }, mergePatch);
    await server.send('DELETE', `${pods}/ended`);
    expect((await server.send('GET', `${pods}/ended`)).code).toBe(404);
  });

  it('can be given in the query', async () => {
    await create(pods, pod('by-query'));
    await server.send('DELETE', `${pods}/by-query?gracePeriodSeconds=0`);
    expect((await server.send('GET', `${pods}/by-query`)).code).toBe(404);
  });
});

describe('what an object owns', () => {
  const owned = (
    name: string,
    owners: readonly { name: string; uid: string }[],
    more: Record<string, unknown> = {},
  ) => ({
    metadata: {
      name,
      ownerReferences: owners.map((owner) => ({ apiVersion: 'v1', kind: 'ConfigMap', ...owner, ...more })),
    },
  });
  const codeOf = async (name: string) => (await server.send('GET', `${configMaps}/${name}`)).code;
  const goes = (name: string) =>
    eventually(async () => {
      expect(await codeOf(name)).toBe(404);
    });

  it('goes after it, and what that owns, too', async () => {
    const { uid } = await create(configMaps, { metadata: { name: 'owner' } });
    const child = await create(configMaps, owned('child', [{ name: 'owner', uid }]));
    await create(configMaps, owned('grandchild', [{ name: 'child', uid: child.uid }]));
    await server.send('DELETE', `${configMaps}/owner`);
    expect(await codeOf('owner')).toBe(404);
    await goes('child');
    await goes('grandchild');
  });

  it('stays while another owner is there, and loses the reference', async () => {
    const one = await create(configMaps, { metadata: { name: 'owner-one' } });
    const other = await create(configMaps, { metadata: { name: 'owner-other' } });
    const owners = [
      { name: 'owner-one', uid: one.uid },
      { name: 'owner-other', uid: other.uid },
    ];
    await create(configMaps, owned('shared', owners));
    await server.send('DELETE', `${configMaps}/owner-one`);
    await eventually(async () => {
      const { body } = await server.send('GET', `${configMaps}/shared`);
      expect(body).toHaveProperty('metadata.ownerReferences', [expect.objectContaining({ uid: other.uid })]);
    });
    await server.send('DELETE', `${configMaps}/owner-other`);
    await goes('shared');
  });

  it('goes first when the deletion is in the foreground', async () => {
    const { uid } = await create(configMaps, { metadata: { name: 'last' } });
    const reference = owned('first', [{ name: 'last', uid }], { blockOwnerDeletion: true });
    await create(configMaps, { metadata: { ...reference.metadata, finalizers: ['example.com/hold'] } });
    const { body } = await server.send('DELETE', `${configMaps}/last`, { propagationPolicy: 'Foreground' });
    expect(metadataOf(body).finalizers).toEqual(['foregroundDeletion']);
    await eventually(async () => {
      expect(metadataOf((await server.send('GET', `${configMaps}/first`)).body).deletionTimestamp).toBeDefined();
    });
    expect(await codeOf('last')).toBe(200);
    await server.send('PATCH', `${configMaps}/first`, { metadata: { finalizers: null } }, mergePatch);
    await goes('first');
    await goes('last');
  });

  it.each([
    ['in the body', '', { propagationPolicy: 'Orphan' }],
    ['in the query', '?propagationPolicy=Orphan', undefined],
  ])('is let go when it is to be orphaned, as is said %s', async (_, query, options) => {
    const { uid } = await create(configMaps, { metadata: { name: 'parent' } });
    await create(configMaps, owned('orphan', [{ name: 'parent', uid }]));
    await server.send('DELETE', `${configMaps}/parent${query}`, options);
    await goes('parent');
    const { body } = await server.send('GET', `${configMaps}/orphan`);
    expect(body).not.toHaveProperty('metadata.ownerReferences');
    await server.send('DELETE', `${configMaps}/orphan`);
    await goes('orphan');
  });

  it('goes when its owner has never been there', async () => {
    const uid = '11111111-2222-4333-8444-555555555555';
    await create(configMaps, owned('foundling', [{ name: 'nobody', uid }]));
    await goes('foundling');
  });

  it('is deleted by a policy of those that there are', async () => {
    await create(configMaps, { metadata: { name: 'policy' } });
    const { code, body } = await server.send('DELETE', `${configMaps}/policy`, { propagationPolicy: 'Sideways' });
    expect(code).toBe(422);
    expect(body).toMatchObject({ details: { causes: [{ field: 'propagationPolicy' }] } });
  });
});
