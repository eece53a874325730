import type { KubernetesListObject, KubernetesObject } from '@kubernetes/client-node';
import { Watch } from '@kubernetes/client-node';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isDeepStrictEqual } from 'node:util';

import { mergePatch } from '../../activities/kubernetes/kubernetesApi.js';
import type { TestCluster } from './clusterFixture.js';
import { nodeClaimOf, nodeClaims, podOf, startCluster, until } from './clusterFixture.js';

interface Seen {
  readonly type: string;
  readonly name: string | undefined;
  readonly object: unknown;
}

/** A watch through the client, and what it has seen. */
interface RunningWatch {
  readonly seen: readonly Seen[];
  readonly controller: AbortController;
  readonly isDone: () => boolean;
  /** Waits for that many events. */
  see(count: number): Promise<readonly Seen[]>;
}

let cluster: TestCluster;
let controllers: AbortController[];

beforeEach(async () => {
  controllers = [];
  cluster = await startCluster({ bookmarkIntervalMs: 20, watchHistory: 10 });
});

afterEach(async () => {
  for (const controller of controllers) controller.abort();
  await cluster.simulator.close();
});

function nameOf(object: unknown): string | undefined {
  const name: unknown = Reflect.get(Object(Reflect.get(Object(object), 'metadata')), 'name');
  return typeof name === 'string' ? name : undefined;
}

async function watch(path: string, query: Record<string, string | number | boolean> = {}): Promise<RunningWatch> {
  const seen: Seen[] = [];
  let done = false;
  const controller = await new Watch(cluster.api.kubeConfig).watch(
    path,
    query,
    (type, object: unknown) => seen.push({ type, name: nameOf(object), object }),
    () => {
      done = true;
    },
  );
  controllers.push(controller);
  return {
    seen,
    controller,
    isDone: () => done,
    async see(count) {
      await until(() => seen.length >= count || done);
      expect(seen.length).toBeGreaterThanOrEqual(count);
      return seen;
    },
  };
}

function named(seen: readonly Seen[]): readonly string[] {
  return seen.map(({ type, name }) => `${type} ${name ?? ''}`.trim());
}

async function createNode(name: string, labels: Record<string, string> = {}): Promise<string> {
  const { metadata } = await cluster.api.core.createNode({ body: { metadata: { name, labels } } });
  return metadata?.resourceVersion ?? '';
}

function labelNode(name: string, labels: Record<string, string | null>): Promise<KubernetesObject> {
  return cluster.api.core.patchNode({ name, body: { metadata: { labels } } }, mergePatch);
}

async function listNodes(): Promise<KubernetesListObject<KubernetesObject>> {
  return cluster.api.core.listNode();
}

describe('a watch', () => {
  it.each([undefined, '0'])('from now begins with what is there: resourceVersion %s', async (resourceVersion) => {
    await createNode('a');
    await createNode('b');
    const running = await watch('/api/v1/nodes', resourceVersion === undefined ? {} : { resourceVersion });
    await running.see(2);
    await createNode('c');
    expect(named(await running.see(3))).toEqual(['ADDED a', 'ADDED b', 'ADDED c']);
  });

  it('from a list on sees all that happened since, in order, once', async () => {
    await createNode('a');
    const { metadata } = await listNodes();
    await createNode('b');
    await labelNode('a', { x: 'y' });
    const running = await watch('/api/v1/nodes', { resourceVersion: metadata?.resourceVersion ?? '' });
    await running.see(2);
    await cluster.api.core.deleteNode({ name: 'b' });
    expect(named(await running.see(3))).toEqual(['ADDED b', 'MODIFIED a', 'DELETED b']);
  });

  it('carries whole objects, with kind and apiVersion, and the revision of the change', async () => {
    const running = await watch('/api/v1/nodes');
    const createdAt = await createNode('a', { x: 'y' });
    await cluster.api.core.deleteNode({ name: 'a' });
    const [added, deleted] = await running.see(2);
    expect(added?.object).toMatchObject({ kind: 'Node', apiVersion: 'v1', metadata: { resourceVersion: createdAt } });
    const deletedAt = String(Number(createdAt) + 1);
    expect(deleted?.object).toMatchObject({ metadata: { labels: { x: 'y' }, resourceVersion: deletedAt } });
  });

  it('of one namespace sees only that', async () => {
    const running = await watch('/api/v1/namespaces/kube-system/configmaps');
    await cluster.api.core.createNamespacedConfigMap({ namespace: 'default', body: { metadata: { name: 'other' } } });
    await cluster.api.core.createNamespacedConfigMap({ namespace: 'kube-system', body: { metadata: { name: 'own' } } });
    expect(named(await running.see(1))).toEqual(['ADDED own']);
  });

  it('by labels sees objects come and go as their labels change', async () => {
    await createNode('a');
    const running = await watch('/api/v1/nodes', { labelSelector: 'pool=x' });
    await labelNode('a', { pool: 'x' });
    await labelNode('a', { more: 'yes' });
    await labelNode('a', { pool: 'z' });
    await labelNode('a', { more: null });
    await createNode('b', { pool: 'x' });
    const seen = await running.see(4);
    expect(named(seen)).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a', 'ADDED b']);
    expect(seen[2]?.object).toHaveProperty('metadata.labels.pool', 'x');
  });

  it('by node sees a pod when it is bound', async () => {
    const running = await watch('/api/v1/pods', { fieldSelector: 'spec.nodeName=n' });
    const namespace = 'default';
    await cluster.api.core.createNamespacedPod({ namespace, body: podOf('p') });
    const body = { metadata: { name: 'p' }, target: { name: 'n' } };
    await cluster.api.core.createNamespacedPodBinding({ namespace, name: 'p', body });
    await cluster.api.core.deleteNamespacedPod({ namespace, name: 'p', gracePeriodSeconds: 0 });
    // A pod that goes without grace is marked first.
    expect(named(await running.see(3))).toEqual(['ADDED p', 'MODIFIED p', 'DELETED p']);
  });

  it('shows an object that loses its last finalizer as it last was', async () => {
    await cluster.api.custom.createClusterCustomObject({
      ...nodeClaims,
      body: nodeClaimOf('c', { finalizers: ['a/b'] }),
    });
    const running = await watch('/apis/karpenter.sh/v1/nodeclaims');
    await cluster.api.custom.deleteClusterCustomObject({ ...nodeClaims, name: 'c' });
    const body = { metadata: { finalizers: null } };
    await cluster.api.custom.patchClusterCustomObject({ ...nodeClaims, name: 'c', body }, mergePatch);
    const seen = await running.see(3);
    expect(named(seen)).toEqual(['ADDED c', 'MODIFIED c', 'DELETED c']);
    expect(seen[2]?.object).toHaveProperty('metadata.finalizers', ['a/b']);
  });

  it('is told where it stands if it asks for that', async () => {
    const asks = await watch('/api/v1/nodes', { allowWatchBookmarks: true });
    const doesNot = await watch('/api/v1/nodes');
    await cluster.api.core.createNamespacedConfigMap({
      namespace: 'default',
      body: { metadata: { name: 'elsewhere' } },
    });
    const { metadata } = await listNodes();
    const bookmarks = () => asks.seen.filter(({ type }) => type === 'BOOKMARK').map(({ object }) => object);
    const here = { kind: 'Node', apiVersion: 'v1', metadata: { resourceVersion: metadata?.resourceVersion } };
    await until(() => isDeepStrictEqual(bookmarks().at(-1), here));
    expect(doesNot.seen).toEqual([]);
  });

  it('ends when its time is over', async () => {
    const running = await watch('/api/v1/nodes', { timeoutSeconds: 1 });
    const startedAt = performance.now();
    await until(running.isDone);
    expect(performance.now() - startedAt).toBeGreaterThan(800);
  });

  it.each(['compact', 'history'])('from too long ago gets one error, and ends: %s', async (way) => {
    const old = await createNode('a');
    for (let count = 0; count < 12; count += 1) await createNode(`n-${count}`);
    if (way === 'compact') cluster.simulator.compact();
    const running = await watch('/api/v1/nodes', { resourceVersion: old });
    await until(running.isDone);
    expect(running.seen).toHaveLength(1);
    expect(running.seen[0]).toMatchObject({
      type: 'ERROR',
      object: {
        kind: 'Status',
        status: 'Failure',
        code: 410,
        reason: 'Expired',
        message: expect.stringMatching(new RegExp(`^too old resource version: ${old} \\(\\d+\\)$`)),
      },
    });
  });

  it('goes on from the last revision, whatever was forgotten', async () => {
    const last = await createNode('a');
    cluster.simulator.compact();
    const running = await watch('/api/v1/nodes', { resourceVersion: last });
    await createNode('b');
    expect(named(await running.see(1))).toEqual(['ADDED b']);
  });

  it('is noted when it starts', async () => {
    await watch('/api/v1/nodes');
    expect(cluster.simulator.audit.entries.at(-1)).toMatchObject({ verb: 'watch', resource: 'nodes', status: 200 });
  });

  it('is dropped when its client does not read', async () => {
    const path = '/api/v1/namespaces/default/configmaps?watch=true';
    const headers = { Authorization: 'Bearer secret-of-the-test' };
    const options = { ca: cluster.simulator.caPem, agent: false, headers } as const;
    const slow = await new Promise<IncomingMessage>((resolve, reject) => {
      httpsRequest(cluster.simulator.endpoint + path, options, resolve)
        .on('error', reject)
        .end();
    });
    const data = { filling: 'x'.repeat(1_000_000) };
    for (let count = 0; count < 24; count += 1) {
      const body = { metadata: { name: `big-${count}` }, data };
      await cluster.api.core.createNamespacedConfigMap({ namespace: 'default', body });
    }
    const lost = once(slow, 'error');
    slow.resume();
    expect(await lost).toMatchObject([{ code: 'ECONNRESET' }]);
  });
});

describe('the end of the server', () => {
  it('ends the watches, too', async () => {
    const other = await startCluster();
    let done = false;
    const running = new Watch(other.api.kubeConfig).watch(
      '/api/v1/nodes',
      {},
      () => undefined,
      () => {
        done = true;
      },
    );
    await running;
    await other.simulator.close();
    await until(() => done);
    expect(done).toBe(true);
  });
});
