import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import type { Collection, InformerEvent } from '../../activities/kubernetes/informer.js';
import { Informer } from '../../activities/kubernetes/informer.js';
import { mergePatch } from '../../activities/kubernetes/kubernetesApi.js';
import type { Node } from '../../karpenter/api.js';
import { nodeSchema } from '../../karpenter/api.js';
import { createLog } from '../../runtime/log.js';
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
  informer = new Informer(cluster.api, nodes, { retryDelayMs: 1, log: createLog('test', 'silent') });
  events = [];
  informer.onChange((event) => events.push(event));
  await informer.synced;
  await until(() => countOf('watch') === 1);
});

afterEach(async () => {
  await informer.stop();
  await cluster.simulator.close();
});

async function createNode(name: string): Promise<void> {
  await cluster.api.core.createNode({ body: { metadata: { name } } });
}

function countOf(verb: 'list' | 'watch'): number {
  return cluster.simulator.audit.entries.filter((entry) => entry.verb === verb).length;
}

function names(): readonly string[] {
  return informer.list().map((node) => node.metadata.name);
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

  it('goes on where it was after its watch has ended, without another list', async () => {
    cluster.simulator.addFault({ verb: 'watch', resource: 'nodes', then: { kind: 'end' } });
    await createNode('c');
    await until(() => informer.get('c') !== undefined);
    expect(countOf('list')).toBe(1);
    expect(countOf('watch')).toBe(2);
    expect(events).toHaveLength(3);
  });

  it('lists again when the past has been forgotten meanwhile', async () => {
    // It hears nothing of what happens, until its watch ends and it has to resume from before.
    cluster.simulator.addFault({ verb: 'watch', then: { kind: 'silence' } });
    await cluster.api.core.deleteNode({ name: 'b' });
    await createNode('c');
    cluster.simulator.compact();
    expect(names()).toEqual(['a', 'b']);
    cluster.simulator.addFault({ verb: 'watch', then: { kind: 'end' } });
    await until(() => informer.get('c') !== undefined);
    expect(names()).toEqual(['a', 'c']);
    expect(countOf('list')).toBe(2);
  });

  it('does not notice that a connection has gone silent, before its own timeout', async () => {
    cluster.simulator.addFault({ verb: 'watch', then: { kind: 'silence' } });
    await createNode('c');
    const other = new Informer(cluster.api, nodes, { retryDelayMs: 1, log: createLog('test', 'silent') });
    await other.synced;
    expect(other.get('c')).toBeDefined();
    await other.stop();
    expect(names()).toEqual(['a', 'b']);
    expect(countOf('watch')).toBeGreaterThanOrEqual(1);
  });
});
