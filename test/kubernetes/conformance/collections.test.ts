import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';

import type { ConformanceServer } from './conformanceServer.js';
import { startConformanceServer } from './conformanceServer.js';

let server: ConformanceServer;
let configMaps: string;

const listSchema = z.object({
  kind: z.string(),
  metadata: z.object({
    resourceVersion: z.string(),
    continue: z.string().optional(),
    remainingItemCount: z.number().optional(),
  }),
  items: z.array(z.looseObject({ metadata: z.looseObject({ name: z.string() }) })),
});

async function list(path: string, query: Record<string, string> = {}) {
  const answer = await server.send('GET', `${path}?${new URLSearchParams(query).toString()}`);
  const { metadata, items } = listSchema.parse(answer.body);
  return { ...metadata, names: items.map((item) => item.metadata.name) };
}

beforeAll(async () => {
  server = await startConformanceServer();
  configMaps = `/api/v1/namespaces/${server.own}/configmaps`;
  for (const [name, zone] of [
    ['a', '1'],
    ['b', '2'],
    ['c', '3'],
    ['d', undefined],
    ['e', '2'],
  ] as const) {
    const labels = { list: 'yes', ...(zone === undefined ? {} : { zone }) };
    await server.send('POST', configMaps, { metadata: { name, labels } });
  }
});

afterAll(async () => {
  await server.close();
});

describe('a label selector', () => {
  it.each([
    { labelSelector: 'list=yes', names: ['a', 'b', 'c', 'd', 'e'] },
    { labelSelector: 'list=yes,zone==2', names: ['b', 'e'] },
    { labelSelector: 'list,zone!=2', names: ['a', 'c', 'd'] },
    { labelSelector: 'zone in (1, 3),list', names: ['a', 'c'] },
    { labelSelector: 'zone notin (1,3),list=yes', names: ['b', 'd', 'e'] },
    { labelSelector: 'list,!zone', names: ['d'] },
    { labelSelector: 'list,zone', names: ['a', 'b', 'c', 'e'] },
    { labelSelector: 'list,zone>1', names: ['b', 'c', 'e'] },
    { labelSelector: 'zone=', names: [] },
  ])('$labelSelector', async ({ labelSelector, names }) => {
    expect((await list(configMaps, { labelSelector })).names).toEqual(names);
  });

  it.each(['zone=(', 'a=b=c', 'zone in 1', '=x', 'zone>x'])('%s is refused', async (labelSelector) => {
    const query = new URLSearchParams({ labelSelector }).toString();
    expect(await server.send('GET', `${configMaps}?${query}`)).toMatchObject({
      code: 400,
      body: { reason: 'BadRequest' },
    });
  });
});

describe('a field selector', () => {
  const pods = (): string => `/api/v1/namespaces/${server.own}/pods`;

  beforeAll(async () => {
    for (const name of ['on-one', 'on-other', 'nowhere']) {
      const nodeName = name === 'nowhere' ? undefined : `${server.own}-${name}`;
      const spec = { nodeName, containers: [{ name: 'main', image: 'app:1' }] };
      await server.send('POST', pods(), { metadata: { name }, spec });
    }
  });

  it.each([
    { fieldSelector: (own: string) => `spec.nodeName=${own}-on-one`, names: ['on-one'] },
    { fieldSelector: (own: string) => `spec.nodeName!=${own}-on-one`, names: ['nowhere', 'on-other'] },
    { fieldSelector: () => 'spec.nodeName=', names: ['nowhere'] },
    { fieldSelector: () => 'metadata.name=on-other,status.phase=Pending', names: ['on-other'] },
    { fieldSelector: () => 'status.phase!=Pending', names: [] },
    { fieldSelector: () => 'status.phase!=Succeeded,status.phase!=Failed', names: ['nowhere', 'on-one', 'on-other'] },
  ])('of pods: $names', async ({ fieldSelector, names }) => {
    expect((await list(pods(), { fieldSelector: fieldSelector(server.own) })).names).toEqual(names);
  });

  it('of events selects by the object that they are about', async () => {
    const events = `/api/v1/namespaces/${server.own}/events`;
    for (const [name, uid] of [
      ['one', 'u1'],
      ['two', 'u2'],
    ] as const) {
      const involvedObject = { kind: 'Pod', namespace: server.own, name: 'p', uid };
      await server.send('POST', events, { metadata: { name }, involvedObject, reason: 'Because', type: 'Normal' });
    }
    const fieldSelector = 'involvedObject.uid=u2,involvedObject.kind=Pod,reason=Because';
    expect((await list(events, { fieldSelector })).names).toEqual(['two']);
  });

  it.each([
    {
      path: () => pods(),
      fieldSelector: 'spec.containers=a',
      message: 'field label not supported: spec.containers',
    },
    {
      path: () => configMaps,
      fieldSelector: 'data.a=b',
      message: '"data.a" is not a known field selector: only "metadata.name", "metadata.namespace"',
    },
    {
      path: () => '/apis/karpenter.sh/v1/nodepools',
      fieldSelector: 'spec.weight=1',
      message: 'field label not supported: spec.weight',
    },
  ])('that the type does not have is refused: $fieldSelector', async ({ path, fieldSelector, message }) => {
    const { code, body } = await server.send('GET', `${path()}?${new URLSearchParams({ fieldSelector }).toString()}`);
    expect(code).toBe(400);
    expect(body).toMatchObject({ message: expect.stringContaining(message) });
  });
});

describe('a list', () => {
  it('is in the order of its keys, and has a resourceVersion', async () => {
    const all = await list(configMaps);
    expect(all.names).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(all.resourceVersion).toMatch(/^\d+$/);
  });

  it('leaves kind and apiVersion out of the items of built-in types only', async () => {
    const { body } = await server.send('GET', configMaps);
    expect(body).toMatchObject({ kind: 'ConfigMapList', apiVersion: 'v1' });
    expect(body).not.toHaveProperty('items.0.kind');
  });

  it('of a resourceVersion yet to come times out', async () => {
    const { code, body, headers } = await server.send('GET', `${configMaps}?resourceVersion=999999999`);
    expect(code).toBe(504);
    expect(body).toMatchObject({
      reason: 'Timeout',
      message: expect.stringMatching(/^Timeout: Too large resource version: 999999999, current: \d+$/),
      details: { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }] },
    });
    expect(headers['retry-after']).toBe('1');
  });
});

describe('a list in pages', () => {
  it('gives each object once, as it was when the first page was read', async () => {
    const first = await list(configMaps, { limit: '2' });
    expect(first).toMatchObject({ names: ['a', 'b'], remainingItemCount: 3 });
    await server.send('POST', configMaps, { metadata: { name: 'bb', labels: { late: 'yes' } } });
    await server.send('DELETE', `${configMaps}/d`);
    const second = await list(configMaps, { limit: '2', continue: first.continue ?? '' });
    expect(second).toMatchObject({ names: ['c', 'd'], remainingItemCount: 1, resourceVersion: first.resourceVersion });
    const third = await list(configMaps, { limit: '2', continue: second.continue ?? '' });
    expect(third).toEqual({ names: ['e'], resourceVersion: first.resourceVersion });
  });

  it('does not count the rest when there is a selector', async () => {
    const first = await list(configMaps, { limit: '1', labelSelector: 'zone=2' });
    expect(first.names).toEqual(['b']);
    expect(first.continue).toEqual(expect.any(String));
    expect(first.remainingItemCount).toBeUndefined();
    const second = await list(configMaps, { limit: '1', labelSelector: 'zone=2', continue: first.continue ?? '' });
    expect(second.names).toEqual(['e']);
  });

  it('comes whole from the cache, which resourceVersion 0 asks for', async () => {
    const first = await list(configMaps, { limit: '1', resourceVersion: '0' });
    expect(first.names.length).toBeGreaterThan(1);
    expect(first.continue).toBeUndefined();
  });

  it('has no next page when all fits in one', async () => {
    expect((await list(configMaps, { limit: '100' })).continue).toBeUndefined();
  });

  it('refuses a continue that is none, or that comes with a resourceVersion', async () => {
    expect(await server.send('GET', `${configMaps}?limit=1&continue=x`)).toMatchObject({
      code: 400,
      body: { message: expect.stringMatching(/^invalid continue token: continue key is not valid: /) },
    });
    const { continue: token = '' } = await list(configMaps, { limit: '1' });
    expect(await server.send('GET', `${configMaps}?continue=${token}&resourceVersion=5`)).toMatchObject({
      code: 400,
      body: { message: 'specifying resource version is not allowed when using continue' },
    });
  });

  it('goes across namespaces', async () => {
    const all: string[] = [];
    let token = '';
    do {
      const page = await list('/api/v1/namespaces', { limit: '1', continue: token });
      all.push(...page.names);
      token = page.continue ?? '';
    } while (token !== '');
    expect(all).toEqual((await list('/api/v1/namespaces')).names);
  });

  it('can be of exactly a past state', async () => {
    const before = await list(configMaps, { labelSelector: 'past' });
    await server.send('POST', configMaps, { metadata: { name: 'past', labels: { past: 'yes' } } });
    const exact = { labelSelector: 'past', resourceVersionMatch: 'Exact', resourceVersion: before.resourceVersion };
    expect((await list(configMaps, exact)).names).toEqual([]);
    expect((await list(configMaps, { labelSelector: 'past' })).names).toEqual(['past']);
  });
});
