import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

import type { ConformanceServer } from './conformanceServer.js';
import { startConformanceServer } from './conformanceServer.js';
import { metadataOf } from './metadata.js';
import type { WatchLine, WatchLines } from './watchLines.js';
import { watch } from './watchLines.js';

let server: ConformanceServer;
let configMaps: string;
let open: WatchLines[];

beforeAll(async () => {
  server = await startConformanceServer();
  configMaps = `/api/v1/namespaces/${server.own}/configmaps`;
});

afterAll(async () => {
  await server.close();
});

beforeEach(() => {
  open = [];
});

afterEach(() => {
  for (const each of open) each.close();
});

async function watchConfigMaps(query: Record<string, string>): Promise<WatchLines> {
  const lines = await watch(
    server.access,
    `${configMaps}?${new URLSearchParams({ watch: 'true', ...query }).toString()}`,
  );
  open.push(lines);
  return lines;
}

const create = async (name: string, labels: Record<string, string> = {}) =>
  metadataOf((await server.send('POST', configMaps, { metadata: { name, labels } })).body);
const relabel = async (name: string, labels: Record<string, string | null>) => {
  const patch = { 'Content-Type': 'application/merge-patch+json' };
  return metadataOf((await server.send('PATCH', `${configMaps}/${name}`, { metadata: { labels } }, patch)).body);
};
const brief = ({ type, object }: WatchLine): string => `${type} ${metadataOf(object).name}`;

async function see(lines: WatchLines, count: number): Promise<readonly string[]> {
  const seen: string[] = [];
  while (seen.length < count) seen.push(brief(await lines.next()));
  return seen;
}

describe('a watch', () => {
  it('from a resourceVersion on sees all that happened since, in order', async () => {
    const { resourceVersion } = await create('start');
    await create('one');
    await relabel('one', { a: 'b' });
    await server.send('DELETE', `${configMaps}/one`);
    const lines = await watchConfigMaps({ resourceVersion });
    expect(await see(lines, 3)).toEqual(['ADDED one', 'MODIFIED one', 'DELETED one']);
    await create('two');
    expect(await see(lines, 1)).toEqual(['ADDED two']);
  });

  it('shows what is gone as it last was, at the revision at which it went', async () => {
    const { resourceVersion } = await create('last', { a: 'b' });
    const lines = await watchConfigMaps({ resourceVersion });
    await server.send('DELETE', `${configMaps}/last`);
    const { type, object } = await lines.next();
    expect({ type, object }).toMatchObject({
      type: 'DELETED',
      object: { kind: 'ConfigMap', metadata: { labels: { a: 'b' } } },
    });
    expect(Number(metadataOf(object).resourceVersion)).toBeGreaterThan(Number(resourceVersion));
  });

  it('without a resourceVersion begins with what there is', async () => {
    await create('there', { present: 'yes' });
    const lines = await watchConfigMaps({ labelSelector: 'present' });
    expect(await see(lines, 1)).toEqual(['ADDED there']);
    await relabel('there', { more: 'yes' });
    expect(await see(lines, 1)).toEqual(['MODIFIED there']);
  });

  it('by labels sees objects come and go as their labels change', async () => {
    const { resourceVersion } = await create('moving');
    const lines = await watchConfigMaps({ resourceVersion, labelSelector: 'seen=yes' });
    await relabel('moving', { seen: 'yes' });
    await relabel('moving', { seen: 'yes', other: 'x' });
    await relabel('moving', { seen: null });
    await relabel('moving', { seen: 'yes' });
    expect(await see(lines, 4)).toEqual(['ADDED moving', 'MODIFIED moving', 'DELETED moving', 'ADDED moving']);
  });

  it('by name sees only that object', async () => {
    const { resourceVersion } = await create('named');
    const lines = await watchConfigMaps({ resourceVersion, fieldSelector: 'metadata.name=named' });
    await create('unnamed');
    await server.send('DELETE', `${configMaps}/named`);
    expect(await see(lines, 1)).toEqual(['DELETED named']);
  });

  it('is told where it stands before its time is over, if it asks for that', async () => {
    const { resourceVersion } = await create('bookmarked');
    const lines = await watchConfigMaps({
      resourceVersion,
      allowWatchBookmarks: 'true',
      timeoutSeconds: '6',
      labelSelector: 'none',
    });
    await create('unseen');
    const { type, object } = await lines.next();
    expect({ type, object }).toMatchObject({
      type: 'BOOKMARK',
      object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion: expect.stringMatching(/^\d+$/) } },
    });
  });

  it('ends when its time is over', async () => {
    const { resourceVersion } = await create('timed');
    const lines = await watchConfigMaps({ resourceVersion, timeoutSeconds: '1' });
    expect(await lines.rest()).toEqual([]);
  });

  it('r179: from a forgotten past is told 410 in the stream, and ends', async () => {
    server.forgetPast();
    const path = '/apis/karpenter.sh/v1/nodepools?watch=true&resourceVersion=1';
    const lines = await watch(server.access, path);
    open.push(lines);
    expect(await lines.rest()).toEqual([
      {
        type: 'ERROR',
        object: {
          kind: 'Status',
          apiVersion: 'v1',
          metadata: {},
          status: 'Failure',
          message: expect.stringMatching(/^too old resource version: 1 \(\d+\)$/),
          reason: 'Expired',
          code: 410,
        },
      },
    ]);
  });

  it('can begin with a list, whose end it tells', async () => {
    await create('streamed', { stream: 'yes' });
    const lines = await watchConfigMaps({
      labelSelector: 'stream',
      sendInitialEvents: 'true',
      allowWatchBookmarks: 'true',
      resourceVersionMatch: 'NotOlderThan',
    });
    expect(await see(lines, 1)).toEqual(['ADDED streamed']);
    expect(await lines.next()).toMatchObject({
      type: 'BOOKMARK',
      object: {
        kind: 'ConfigMap',
        metadata: {
          resourceVersion: expect.stringMatching(/^\d+$/),
          annotations: { 'k8s.io/initial-events-end': 'true' },
        },
      },
    });
    await relabel('streamed', { stream: 'on' });
    expect(await see(lines, 1)).toEqual(['MODIFIED streamed']);
  });

  it('that begins with a list needs resourceVersionMatch', async () => {
    const { code, body } = await server.send('GET', `${configMaps}?watch=true&sendInitialEvents=true`);
    expect(code).toBe(422);
    expect(body).toMatchObject({
      message:
        'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
    });
  });
});
