import { Informer } from '../../activities/kubernetes/informer.js';
import type { KubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';
import { nodeClaimCollection } from '../../activities/kubernetes/nodeClaims.js';
import { nodeCollection } from '../../activities/kubernetes/nodes.js';
import type { Log } from '../../runtime/log.js';
import { auditNow } from '../../simulator/auditLog.js';
import { pods as podCollection } from '../../simulator/behaviour/collections.js';
import type { Pod } from '../../simulator/behaviour/objects.js';
import { namespacedKey } from '../../simulator/behaviour/objects.js';
import type { ClusterFact } from '../clusterFacts.js';
import type { SeenWrite } from './revisionOrder.js';
import { inOrderOfRevision, revisionOf } from './revisionOrder.js';

const retryDelayMs = 200;

type SeenFact = SeenWrite & { readonly fact: (at: number) => ClusterFact };

/** How the Eviction API marks the pods that it deletes. */
function isEvicted(pod: Pod | undefined): boolean {
  const target = pod?.status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
  return target?.status === 'True' && target.reason === 'EvictionByEvictionAPI';
}

/**
 * What happens in a cluster whose audit log is out of reach, by watches. They tell every change of an object, if a little later than it
 * was made; only what happened while a watch had to begin anew (410) shows as one change.
 */
export class WatchedFacts {
  readonly #seen: SeenFact[] = [];
  readonly #informers: readonly { readonly synced: Promise<void>; stop(): Promise<void> }[];

  private constructor(api: KubernetesApi, log: Log) {
    const options = { retryDelayMs, log };
    const nodeClaims = new Informer(api, nodeClaimCollection, options);
    nodeClaims.onChange(({ type, object: nodeClaim }) => {
      this.#note(nodeClaim, (at) => ({ kind: 'nodeClaim', at, nodeClaim, isGone: type === 'deleted' }));
    });
    const nodes = new Informer(api, nodeCollection, options);
    nodes.onChange(({ type, object: node }) => {
      this.#note(node, (at) => ({ kind: 'node', at, node, isGone: type === 'deleted' }));
    });
    const pods = new Informer(api, podCollection, options);
    pods.onChange((event) => {
      if (event.type === 'set') this.#notePod(event.object, event.previous);
    });
    this.#informers = [nodeClaims, nodes, pods];
  }

  static async start(api: KubernetesApi, log: Log): Promise<WatchedFacts> {
    const watched = new WatchedFacts(api, log);
    await Promise.all(watched.#informers.map(({ synced }) => synced));
    return watched;
  }

  facts(): readonly ClusterFact[] {
    return inOrderOfRevision(this.#seen).map(({ at, fact }) => fact(at));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#informers.map((informer) => informer.stop()));
  }

  #note(object: Parameters<typeof revisionOf>[0], fact: SeenFact['fact']): void {
    this.#seen.push({ at: auditNow(), revision: revisionOf(object), fact });
  }

  #notePod(object: Pod, previous: Pod | undefined): void {
    const pod = namespacedKey(object);
    if (previous === undefined) this.#note(object, (at) => ({ kind: 'podCreated', at, pod }));
    if (object.spec.nodeName !== undefined && previous?.spec.nodeName === undefined)
      this.#note(object, (at) => ({ kind: 'podBound', at, pod }));
    if (isEvicted(object) && !isEvicted(previous)) this.#note(object, (at) => ({ kind: 'podEvicted', at, pod }));
  }
}
