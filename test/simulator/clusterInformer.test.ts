import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';

import type { Collection, InformerEvent, InformerOptions } from '../../activities/kubernetes/informer.js';
import { Informer } from '../../activities/kubernetes/informer.js';
import { mergePatch } from '../../activities/kubernetes/kubernetesApi.js';
import { nodeCollection } from '../../activities/kubernetes/nodes.js';
import type { Node } from '../../karpenter/api.js';
import { nodeSchema } from '../../karpenter/api.js';
import { createLog } from '../../runtime/log.js';
import type { ClusterFaultEffect } from '../../simulator/cluster/faults.js';
import type { TestCluster } from './clusterFixture.js';
import { startCluster, until } from './clusterFixture.js';

const nodes: Collection<Node> = {
  path: '/api/v1/nodes',
  async list(api) {
    const { items, metadata } = await api.core.listNode();
    return { items: items.map((item) => nodeSchema.parse(item)), resourceVersion: metadata?.resourceVersion ?? '' };
  },
  parse: (object) => nodeSchema.parse(object),
  key: (node) => node.metadata.name,
};

let cluster: TestCluster;
let informer: Informer<Node>;
let events: InformerEvent<Node>[];

beforeEach(async () => {
  cluster = await startCluster({ bookmarkIntervalMs: 20 });
  await createNode('a');
  await createNode('b');
  await startInformer({});
});

afterEach(async () => {
  await informer.stop();
  await cluster.simulator.close();
});

async function startInformer(options: Partial<InformerOptions>): Promise<void> {
  const watchesBefore = countOf('watch');
  informer = new Informer(cluster.api, nodes, { retryDelayMs: 1, log: createLog('test', 'silent'), ...options });
  events = [];
  informer.onChange((event) => events.push(event));
  await informer.synced;
  await until(() => countOf('watch') === watchesBefore + 1);
}

async function createNode(name: string): Promise<void> {
  await cluster.api.core.createNode({ body: { metadata: { name } } });
}

function countOf(verb: 'list' | 'watch'): number {
  return cluster.simulator.audit.entries.filter((entry) => entry.verb === verb).length;
}

function names(): readonly string[] {
  return informer.list().map((node) => node.metadata.name);
}

/** It hears nothing of what happens: b is deleted, c created. */
async function changeUnheard(): Promise<void> {
  cluster.simulator.addFault({ verb: 'watch', then: { kind: 'silence' } });
  await cluster.api.core.deleteNode({ name: 'b' });
  await createNode('c');
  expect(names()).toEqual(['a', 'b']);
}

function failuresIn(metadata: unknown): unknown {
  return typeof metadata === 'object' && metadata !== null ? Reflect.get(metadata, 'failures') : undefined;
}

describe('an informer', () => {
  it('has what is there, and follows what changes', async () => {
    expect(names()).toEqual(['a', 'b']);
    await createNode('c');
    await cluster.api.core.patchNode({ name: 'a', body: { metadata: { labels: { x: 'y' } } } }, mergePatch);
    await cluster.api.core.deleteNode({ name: 'b' });
    await until(() => informer.get('b') === undefined);
    expect(names()).toEqual(['a', 'c']);
    expect(informer.get('a')?.metadata.labels).toEqual({ x: 'y' });
    expect(events.slice(2).map(({ type, object }) => `${type} ${object.metadata.name}`)).toEqual([
      'set c',
      'set a',
      'deleted b',
    ]);
  });

  it('says who watches, as for every other request', () => {
    const agents = cluster.simulator.audit.entries.map(({ userAgent }) => userAgent);
    expect(new Set(agents)).toEqual(new Set(['cluster-test']));
  });

  it('r176: goes on where it was after its watch has ended, without another list', async () => {
    cluster.simulator.addFault({ verb: 'watch', then: { kind: 'end' } });
    await createNode('c');
    await until(() => informer.get('c') !== undefined);
    expect(countOf('list')).toBe(1);
    expect(countOf('watch')).toBe(2);
    expect(events).toHaveLength(3);
  });

  it.each<[string, ClusterFaultEffect]>([
    ['a reset connection', { kind: 'reset' }],
    ['a connection that breaks after the answer began', { kind: 'lostResponse' }],
    ['503', { kind: 'fail', status: 503 }],
    ['429', { kind: 'fail', status: 429, reason: 'TooManyRequests', retryAfterSeconds: 1 }],
    ['an ERROR event', { kind: 'errorEvent', status: { kind: 'Status', code: 500, message: 'etcd is away' } }],
  ])('r181: connects once more after %s, and lists nothing anew', async (_, effect) => {
    // The open watch ends, the next one is hit, the one after it lasts.
    cluster.simulator.addFault({ verb: 'watch', after: effect.kind === 'errorEvent' ? 1 : 0, then: effect });
    cluster.simulator.addFault({ verb: 'watch', then: { kind: 'end' } });
    await createNode('c');
    await until(() => informer.get('c') !== undefined && countOf('watch') >= 3);
    await createNode('d');
    await until(() => informer.get('d') !== undefined);
    expect({ watches: countOf('watch'), lists: countOf('list') }).toEqual({ watches: 3, lists: 1 });
    expect(events).toHaveLength(4);
  });

  it('r177: comes back, later each time, after a connection that breaks and a 500', async () => {
    await informer.stop();
    await startInformer({ retryDelayMs: 50 });
    const before = countOf('watch');
    cluster.simulator.addFault({ verb: 'watch', then: { kind: 'lostResponse' } });
    cluster.simulator.addFault({ verb: 'watch', count: 2, then: { kind: 'fail', status: 500 } });
    cluster.simulator.addFault({ verb: 'watch', then: { kind: 'end' } });
    await createNode('c');
    await until(() => countOf('watch') === before + 4);
    await createNode('d');
    await until(() => informer.get('c') !== undefined && informer.get('d') !== undefined);
    const starts = cluster.simulator.audit.entries.filter(({ verb }) => verb === 'watch').map(({ at }) => at);
    const [broken = 0, refused = 0, refusedAgain = 0, lasting = 0] = starts.slice(before);
    expect(refusedAgain - refused).toBeGreaterThanOrEqual(50 * 0.5);
    expect(lasting - refusedAgain).toBeGreaterThanOrEqual(100 * 0.5);
    expect(refused).toBeGreaterThan(broken);
  });

  it('r184: lists again when its watches are ended at once, though nobody says that they are out of date', async () => {
    await informer.stop();
    await startInformer({ retryDelayMs: 300 });
    const before = { lists: countOf('list'), watches: countOf('watch') };
    const beganAtMs = performance.now();
    cluster.simulator.addFault({ verb: 'watch', count: 100, then: { kind: 'end' } });
    await until(() => countOf('list') === before.lists + 1);
    expect(countOf('watch') - before.watches).toBeGreaterThanOrEqual(2);
    expect(countOf('watch') - before.watches).toBeLessThanOrEqual(4);
    // It waits 150 ms at least, then twice that, then twice that again: no tight loop.
    expect(performance.now() - beganAtMs).toBeGreaterThan(150 + 300);
  });

  it('lists again when the past has been forgotten meanwhile', async () => {
    await changeUnheard();
    cluster.simulator.compact();
    cluster.simulator.addFault({ verb: 'watch', then: { kind: 'end' } });
    await until(() => informer.get('c') !== undefined);
    expect(names()).toEqual(['a', 'c']);
    expect(countOf('list')).toBe(2);
    expect(events.map(({ type, object }) => `${type} ${object.metadata.name}`).slice(2)).toEqual([
      'set c',
      'deleted b',
    ]);
  });

  it.each<[string, ClusterFaultEffect]>([
    ['the HTTP status', { kind: 'fail', status: 410, reason: 'Expired' }],
    ['an ERROR event', { kind: 'errorEvent', status: { kind: 'Status', code: 410, reason: 'Expired' } }],
    ['the reason Expired alone', { kind: 'errorEvent', status: { kind: 'Status', reason: 'Expired' } }],
    [
      'the reason Gone under another code',
      { kind: 'errorEvent', status: { kind: 'Status', code: 500, reason: 'Gone' } },
    ],
  ])('lists again, once, when 410 comes as %s', async (_, effect) => {
    await changeUnheard();
    // An open watch cannot be answered with a status any more: it ends, and the next one is.
    cluster.simulator.addFault({ verb: 'watch', then: effect });
    if (effect.kind === 'fail') cluster.simulator.addFault({ verb: 'watch', then: { kind: 'end' } });
    await until(() => informer.get('c') !== undefined);
    expect(names()).toEqual(['a', 'c']);
    await createNode('d');
    await until(() => informer.get('d') !== undefined);
    expect({ watches: countOf('watch'), lists: countOf('list') }).toEqual({
      watches: effect.kind === 'fail' ? 3 : 2,
      lists: 2,
    });
  });

  it('takes a watch without a byte for dead, and goes on where it was with a new one', async () => {
    await informer.stop();
    await startInformer({ silenceMs: 1_000 });
    const before = { watches: countOf('watch'), lists: countOf('list') };
    await changeUnheard();
    await until(() => informer.get('c') !== undefined);
    expect(names()).toEqual(['a', 'c']);
    expect({ watches: countOf('watch'), lists: countOf('list') }).toEqual({ ...before, watches: before.watches + 1 });
  });

  it('takes a watch that is never answered for dead, too', async () => {
    await informer.stop();
    await startInformer({ silenceMs: 1_000 });
    const watchesBefore = countOf('watch');
    cluster.simulator.addFault({ verb: 'watch', then: { kind: 'hang' } });
    cluster.simulator.addFault({ verb: 'watch', then: { kind: 'end' } });
    await until(() => countOf('watch') === watchesBefore + 1);
    await createNode('c');
    await until(() => informer.get('c') !== undefined);
    expect(countOf('watch')).toBe(watchesBefore + 2);
  });

  it('says that it is behind, since when and why, until it watches again', async () => {
    await informer.stop();
    await startInformer({ retryDelayMs: 50 });
    expect(informer.whyBehind).toBeUndefined();
    cluster.simulator.addFault({ verb: 'watch', then: { kind: 'end' } });
    cluster.simulator.addFault({
      verb: 'watch',
      count: 2,
      then: { kind: 'fail', status: 500, message: 'etcd is away' },
    });
    await until(() => informer.whyBehind !== undefined);
    expect(informer.whyBehind).toMatch(/^\/api\/v1\/nodes not watched since \d{4}-.*Z: .+$/);
    await until(() => informer.whyBehind === undefined);
  });

  it('counts failures in a row only: a watch that lasted makes up for what failed before it', async () => {
    await informer.stop();
    const log = createLog('test', 'silent');
    const lost = jest.spyOn(log, 'warn');
    const retryDelayMs = 50;
    await startInformer({ retryDelayMs, log });
    for (let loss = 1; loss <= 3; loss += 1) {
      const watches = countOf('watch');
      const openedAt = performance.now();
      await until(() => performance.now() - openedAt > 2 * retryDelayMs);
      cluster.simulator.addFault({
        verb: 'watch',
        then: { kind: 'errorEvent', status: { kind: 'Status', code: 500, message: 'etcd is away' } },
      });
      await until(() => countOf('watch') === watches + 1);
    }
    const counts = lost.mock.calls.map(([metadata]) => failuresIn(metadata));
    expect(counts).toEqual([1, 1, 1]);
  });

  it('reads a large collection page by page', async () => {
    await informer.stop();
    const resource = { group: '', version: 'v1', plural: 'nodes' };
    const status = { conditions: [{ type: 'Ready', status: 'True' }] };
    for (let index = 0; index < 1_200; index += 1) {
      cluster.simulator.seed(resource, { metadata: { name: `seeded-${index}` }, status });
    }
    const lists = countOf('list');
    informer = new Informer(cluster.api, nodeCollection, { retryDelayMs: 1, log: createLog('test', 'silent') });
    await informer.synced;
    expect(countOf('list') - lists).toBe(3);
    expect(informer.list()).toHaveLength(1_202);
    expect(informer.get('seeded-1199')?.status).toMatchObject(status);
    await createNode('c');
    await until(() => informer.get('c') !== undefined);
  });

  it('has an end: nothing is asked for after a stop', async () => {
    await informer.stop();
    const watches = countOf('watch');
    await createNode('c');
    expect(informer.get('c')).toBeUndefined();
    expect(countOf('watch')).toBe(watches);
  });
});
