import type { Collection } from '../../activities/kubernetes/informer.js';
import { Informer } from '../../activities/kubernetes/informer.js';
import type { KubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';
import type { NodeClaim, NodeClass } from '../../karpenter/api.js';
import type { Log } from '../../runtime/log.js';
import * as collections from './collections.js';
import type { Deployment, Node, Pod, PodDisruptionBudget, ReplicaSet } from './objects.js';

const retryDelayMs = 200;

interface Started {
  readonly synced: Promise<void>;
  stop(): Promise<void>;
}

/** One informer for each collection that somebody asks for: what nobody needs is not watched (and need not exist). */
export class SharedInformers {
  readonly #started: Started[] = [];
  #nodes: Informer<Node> | undefined;
  #pods: Informer<Pod> | undefined;
  #replicaSets: Informer<ReplicaSet> | undefined;
  #deployments: Informer<Deployment> | undefined;
  #podDisruptionBudgets: Informer<PodDisruptionBudget> | undefined;
  #nodeClasses: Informer<NodeClass> | undefined;
  #nodeClaims: Informer<NodeClaim> | undefined;

  constructor(
    private readonly api: KubernetesApi,
    private readonly log: Log,
  ) {}

  get nodes(): Informer<Node> {
    return (this.#nodes ??= this.#start(collections.nodes));
  }

  get pods(): Informer<Pod> {
    return (this.#pods ??= this.#start(collections.pods));
  }

  get replicaSets(): Informer<ReplicaSet> {
    return (this.#replicaSets ??= this.#start(collections.replicaSets));
  }

  get deployments(): Informer<Deployment> {
    return (this.#deployments ??= this.#start(collections.deployments));
  }

  get podDisruptionBudgets(): Informer<PodDisruptionBudget> {
    return (this.#podDisruptionBudgets ??= this.#start(collections.podDisruptionBudgets));
  }

  get nodeClasses(): Informer<NodeClass> {
    return (this.#nodeClasses ??= this.#start(collections.nodeClasses));
  }

  get nodeClaims(): Informer<NodeClaim> {
    return (this.#nodeClaims ??= this.#start(collections.nodeClaims));
  }

  /** Settles when every informer that was asked for has its first list. */
  async synced(): Promise<void> {
    await Promise.all(this.#started.map((informer) => informer.synced));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#started.map((informer) => informer.stop()));
  }

  #start<T>(collection: Collection<T>): Informer<T> {
    const informer = new Informer(this.api, collection, { retryDelayMs, log: this.log });
    this.#started.push(informer);
    return informer;
  }
}
