import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';

import type { InformerEvent } from '../../activities/kubernetes/informer.js';
import type { Source } from '../../client/watcher/watchPools.js';
import { watchPools } from '../../client/watcher/watchPools.js';
import type { NodeClaim, NodeClass, NodePool, Pod, PodDisruptionBudget } from '../../karpenter/api.js';
import { disruptionMark } from '../../karpenter/disruptionMark.js';
import { isTrueSince, machineOf, nodePoolOf, poolName, readyNodeClass } from './poolFixture.js';
import type { MachineShape } from './poolFixture.js';

interface Named {
  readonly metadata: { readonly name: string };
}

/** A collection that the test changes. */
class FakeSource<T extends Named> implements Source<T> {
  readonly #objects = new Map<string, T>();
  readonly #listeners = new Set<(event: InformerEvent<T>) => void>();

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  list(): readonly T[] {
    return [...this.#objects.values()];
  }

  onChange(listener: (event: InformerEvent<T>) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  set(object: T): void {
    const previous = this.#objects.get(object.metadata.name);
    this.#objects.set(object.metadata.name, object);
    for (const listener of this.#listeners) listener({ type: 'set', object, previous });
  }

  delete(name: string): void {
    const object = this.#objects.get(name);
    if (object === undefined) throw new Error(`there is no ${name}`);
    this.#objects.delete(name);
    for (const listener of this.#listeners) listener({ type: 'deleted', object });
  }
}

const drifted: MachineShape = { driftedSince: '2026-01-05T12:00:00Z' };
const workflow = 'replace/c/old/uid-old';
const ours = { ...isTrueSince('DisruptionReason'), message: `ImageDrift; ${disruptionMark(workflow)}` };
const now = '2026-01-05T12:00:00Z';
const resyncMs = 600_000;

/** One drifted node, `old`, in a managed pool, and one that is as it should be, `other`. */
class Cluster {
  readonly nodePools = new FakeSource<NodePool>();
  readonly nodeClasses = new FakeSource<NodeClass>();
  readonly nodeClaims = new FakeSource<NodeClaim>();
  readonly nodes = new FakeSource<NonNullable<ReturnType<typeof machineOf>['node']>>();
  readonly pods = new FakeSource<Pod>();
  readonly podDisruptionBudgets = new FakeSource<PodDisruptionBudget>();
  /** Nobody turns it. */
  readonly killSwitch = { onChange: () => () => undefined };
  readonly stopWatching: () => void;
  readonly #pokes: string[] = [];

  constructor() {
    this.nodePools.set(nodePoolOf());
    this.nodeClasses.set(readyNodeClass);
    this.put('old', drifted);
    this.put('other');
    this.stopWatching = watchPools(this, { expiryLeadMs: 0, resyncMs }, (nodePool) => this.#pokes.push(nodePool));
    this.takePokes();
  }

  /** NodeClaim and Node as they are from now on. */
  put(name: string, shape: MachineShape = {}): void {
    const { nodeClaim, node } = machineOf(name, shape);
    this.nodeClaims.set(nodeClaim);
    if (node !== undefined) this.nodes.set(node);
  }

  /** The pods' nodes are named by their NodeClaims. */
  putPod(name: string, nodeClaim: string | undefined, annotations: Readonly<Record<string, string>> = {}): void {
    this.pods.set({
      metadata: { namespace: 'default', name, uid: `uid-${name}`, annotations: { ...annotations } },
      spec: { containers: [], ...(nodeClaim === undefined ? {} : { nodeName: `aks-${nodeClaim}` }) },
    });
  }

  /** Who was poked since the last question. */
  takePokes(): string[] {
    return this.#pokes.splice(0);
  }
}

let cluster: Cluster;
beforeEach(() => {
  jest.useFakeTimers({ now: Date.parse('2026-01-05T12:00:00Z') });
  cluster = new Cluster();
});
afterEach(() => {
  cluster.stopWatching();
  jest.useRealTimers();
});

describe('what wakes a rollout', () => {
  it('r183: is no repetition: after a reconnect 500 nodes come again as they were, and nobody is poked', () => {
    const names = Array.from({ length: 500 }, (_, index) => `n-${index}`);
    for (const name of names) cluster.put(name, drifted);
    expect(cluster.takePokes()).not.toEqual([]);
    for (const name of names) cluster.put(name, drifted);
    expect(cluster.takePokes()).toEqual([]);
    cluster.put('n-0');
    expect(cluster.takePokes()).toEqual([poolName]);
  });

  it('is the passing of time as long as there is something to do: it may have been terminated', () => {
    jest.advanceTimersByTime(resyncMs);
    expect(cluster.takePokes()).toEqual([poolName]);
    cluster.put('old');
    cluster.takePokes();
    jest.advanceTimersByTime(resyncMs);
    expect(cluster.takePokes()).toEqual([]);
  });

  it.each<[string, () => void]>([
    [
      'a drift',
      () => {
        cluster.put('other', drifted);
      },
    ],
    [
      'a drift that clears',
      () => {
        cluster.put('old');
      },
    ],
    [
      'a node that is not Ready any more',
      () => {
        cluster.put('other', { isReady: false });
      },
    ],
    [
      'a NodeClaim that somebody deletes',
      () => {
        cluster.put('other', { isDeleted: true });
      },
    ],
    [
      'a pod that must not be disrupted',
      () => {
        cluster.putPod('precious', 'old', { 'karpenter.sh/do-not-disrupt': 'true' });
      },
    ],
    [
      'a NodeClaim that is gone, and was replaced by nobody',
      () => {
        cluster.nodeClaims.delete('old');
      },
    ],
  ])('%s', (_, change) => {
    change();
    expect(new Set(cluster.takePokes())).toEqual(new Set([poolName]));
  });

  it('an instance that somebody else terminates: its permit is free', () => {
    cluster.put('old', { ...drifted, isDeleted: true });
    cluster.takePokes();
    cluster.put('old', { ...drifted, isDeleted: true, isInstanceTerminating: true });
    expect(cluster.takePokes()).toEqual([poolName]);
  });

  it('a pod that may be disrupted from now on', () => {
    cluster.putPod('precious', 'old', { 'karpenter.sh/do-not-disrupt': 'true' });
    cluster.takePokes();
    cluster.putPod('precious', 'old');
    expect(cluster.takePokes()).toEqual([poolName]);
  });
});

describe('what wakes nobody', () => {
  it('all that a replacement of ours does from its beginning to its end: it tells itself', () => {
    const reserved: MachineShape = { ...drifted, workflow, isTainted: true, conditions: [ours] };
    cluster.put('old', reserved);
    cluster.put('new', { hasNode: false, replaces: 'uid-old', createdAt: now });
    cluster.put('new', { isInitialized: false, isReady: false, isReserved: true, replaces: 'uid-old' });
    cluster.put('new', { isReserved: true, replaces: 'uid-old' });
    cluster.put('new', { replaces: 'uid-old' });
    cluster.putPod('moved', undefined);
    cluster.putPod('moved', 'new');
    cluster.put('old', { ...reserved, isDeleted: true });
    cluster.put('old', { ...reserved, isDeleted: true, isInstanceTerminating: true });
    cluster.put('old', { ...reserved, isDeleted: true, isInstanceTerminating: true, isNodeDeleted: true });
    cluster.nodes.delete('aks-old');
    cluster.nodeClaims.delete('old');
    expect(cluster.takePokes()).toEqual([]);
  });

  it('pods that come and go and stand against nothing', () => {
    cluster.putPod('usual', undefined);
    cluster.putPod('usual', 'old');
    cluster.pods.delete('usual');
    expect(cluster.takePokes()).toEqual([]);
  });
});
