import type { V1Pod } from '@kubernetes/client-node';

import { mergePatch } from '../../activities/kubernetes/kubernetesApi.js';
import { isTrue } from '../../karpenter/conditions.js';
import type { Behaviour, BehaviourContext } from './behaviour.js';
import { CreationExpectations } from './creationExpectations.js';
import { deletePod } from './deletePod.js';
import type { Pod, ReplicaSet } from './objects.js';
import { controllerOf, isFinished, isTerminating, namespacedKey } from './objects.js';
import { Reconciler } from './reconciler.js';

function compareNewestFirst(a: Pod, b: Pod): number {
  const [createdA, createdB] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? ''];
  if (createdA !== createdB) return createdA < createdB ? 1 : -1;
  return a.metadata.name < b.metadata.name ? -1 : 1;
}

function podOf({ metadata: { name, uid }, spec: { template } }: ReplicaSet): V1Pod {
  return {
    metadata: {
      generateName: `${name}-`,
      labels: template.metadata?.labels,
      annotations: template.metadata?.annotations,
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name, uid, controller: true, blockOwnerDeletion: true },
      ],
    },
    spec: template.spec,
  };
}

/** Pods of one ReplicaSet that are created or deleted at once. */
const burst = 16;

/** The ReplicaSet controller: as many pods as wanted that are neither terminating nor finished. */
export class ReplicaSetController implements Behaviour {
  readonly #reconciler: Reconciler;
  readonly #expectations = new CreationExpectations();
  /** ReplicaSet key to the keys of its pods. */
  readonly #podKeys = new Map<string, Set<string>>();

  constructor(private readonly context: BehaviourContext) {
    this.#reconciler = new Reconciler((key) => this.#reconcile(key), context.log, context.limit);
    const { pods, replicaSets } = context.informers;
    replicaSets.onChange(({ object }) => {
      this.#reconciler.enqueue(namespacedKey(object));
    });
    pods.onChange(({ type, object }) => {
      const owner = controllerOf(object);
      if (owner?.kind !== 'ReplicaSet') return;
      const key = `${object.metadata.namespace}/${owner.name}`;
      this.#expectations.seen(key, object.metadata.uid);
      this.#index(type, key, namespacedKey(object));
      this.#reconciler.enqueue(key);
    });
  }

  start(): void {
    this.#reconciler.start();
  }

  stop(): Promise<void> {
    return this.#reconciler.stop();
  }

  #index(type: 'set' | 'deleted', key: string, podKey: string): void {
    const podKeys = this.#podKeys.get(key) ?? new Set();
    if (type === 'set') podKeys.add(podKey);
    else podKeys.delete(podKey);
    if (podKeys.size === 0) this.#podKeys.delete(key);
    else this.#podKeys.set(key, podKeys);
  }

  #activePods(key: string, replicaSet: ReplicaSet): readonly Pod[] {
    return [...(this.#podKeys.get(key) ?? [])]
      .map((podKey) => this.context.informers.pods.get(podKey))
      .filter((pod) => pod !== undefined)
      .filter((pod) => controllerOf(pod)?.uid === replicaSet.metadata.uid && !isTerminating(pod) && !isFinished(pod));
  }

  async #reconcile(key: string): Promise<void> {
    const replicaSet = this.context.informers.replicaSets.get(key);
    if (replicaSet === undefined || isTerminating(replicaSet)) return;
    const active = this.#activePods(key, replicaSet);
    const missing = replicaSet.spec.replicas - active.length - this.#expectations.unseen(key);
    if (missing > 0) await this.#create(key, replicaSet, Math.min(missing, burst));
    if (missing < 0) await this.#delete(active, Math.min(-missing, burst));
    if (missing > burst) this.#reconciler.enqueue(key);
    await this.#writeStatus(replicaSet, active);
  }

  async #create(key: string, replicaSet: ReplicaSet, count: number): Promise<void> {
    const { namespace } = replicaSet.metadata;
    const body = podOf(replicaSet);
    const creations = Array.from({ length: count }, async () => {
      const pod = await this.context.api.core.createNamespacedPod({ namespace, body });
      this.#expectCreated(key, `${namespace}/${pod.metadata?.name ?? ''}`, pod.metadata?.uid ?? '');
    });
    await settleAll(creations);
  }

  /** Until the informer shows the pod, unless it was quicker than the answer to the request. */
  #expectCreated(key: string, podKey: string, uid: string): void {
    if (this.context.informers.pods.get(podKey)?.metadata.uid !== uid) this.#expectations.expect(key, uid);
    this.#reconciler.enqueueAfter(key, this.#expectations.lifetimeMs);
  }

  async #delete(active: readonly Pod[], count: number): Promise<void> {
    const surplus = [...active].sort(compareNewestFirst).slice(0, count);
    await settleAll(surplus.map((pod) => deletePod(this.context.api, pod)));
  }

  async #writeStatus({ metadata, status }: ReplicaSet, active: readonly Pod[]): Promise<void> {
    const readyReplicas = active.filter((pod) => isTrue(pod, 'Ready')).length;
    const next = {
      observedGeneration: metadata.generation ?? 0,
      replicas: active.length,
      fullyLabeledReplicas: active.length,
      readyReplicas,
      availableReplicas: readyReplicas,
    };
    const isWritten =
      status?.observedGeneration === next.observedGeneration &&
      status.replicas === next.replicas &&
      (status.readyReplicas ?? 0) === readyReplicas &&
      (status.availableReplicas ?? 0) === readyReplicas;
    if (isWritten) return;
    const { name, namespace } = metadata;
    await this.context.api.apps.patchNamespacedReplicaSetStatus(
      { name, namespace, body: { status: next } },
      mergePatch,
    );
  }
}

/** Waits for all of them, then throws the first failure: the key must not be worked on again while some are still under way. */
async function settleAll(work: readonly Promise<unknown>[]): Promise<void> {
  await Promise.allSettled(work);
  await Promise.all(work);
}
