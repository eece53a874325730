import { isDeepStrictEqual } from 'node:util';

import { mergePatch } from '../../activities/kubernetes/kubernetesApi.js';
import { errorMessage } from '../../runtime/errors.js';
import type { Behaviour, BehaviourContext } from './behaviour.js';
import { disruptionStatus, disruptionTimeoutMs, failedStatus } from './disruptionStatus.js';
import { isSelected } from './labelMatching.js';
import type { Pod, PodDisruptionBudget } from './objects.js';
import { controllerOf, namespacedKey } from './objects.js';
import { Reconciler } from './reconciler.js';
import { statusPatch, timestampNow } from './statusPatch.js';

interface Scale {
  readonly uid: string;
  readonly replicas: number;
}

/** The disruption controller: keeps the status of PodDisruptionBudgets, by which the API server grants evictions. */
export class DisruptionController implements Behaviour {
  readonly #reconciler: Reconciler;

  constructor(private readonly context: BehaviourContext) {
    this.#reconciler = new Reconciler((key) => this.#reconcile(key), context.log, context.limit);
    const { deployments, podDisruptionBudgets, pods, replicaSets } = context.informers;
    podDisruptionBudgets.onChange(({ object }) => {
      this.#reconciler.enqueue(namespacedKey(object));
    });
    pods.onChange((event) => {
      this.#enqueueSelecting(event.object);
      if (event.type === 'set' && event.previous !== undefined) this.#enqueueSelecting(event.previous);
    });
    deployments.onChange(({ object }) => {
      this.#enqueueNamespace(object.metadata.namespace);
    });
    replicaSets.onChange(({ object }) => {
      this.#enqueueNamespace(object.metadata.namespace);
    });
  }

  start(): void {
    this.#reconciler.start();
  }

  stop(): Promise<void> {
    return this.#reconciler.stop();
  }

  #enqueueSelecting(pod: Pod): void {
    for (const budget of this.context.informers.podDisruptionBudgets.list()) {
      if (this.#isFor(budget, pod)) this.#reconciler.enqueue(namespacedKey(budget));
    }
  }

  #enqueueNamespace(namespace: string): void {
    for (const budget of this.context.informers.podDisruptionBudgets.list()) {
      if (budget.metadata.namespace === namespace) this.#reconciler.enqueue(namespacedKey(budget));
    }
  }

  #isFor({ metadata, spec }: PodDisruptionBudget, pod: Pod): boolean {
    return metadata.namespace === pod.metadata.namespace && isSelected(pod.metadata.labels ?? {}, spec.selector);
  }

  async #reconcile(key: string): Promise<void> {
    const budget = this.context.informers.podDisruptionBudgets.get(key);
    if (budget === undefined) return;
    const before = { disruptedPods: {}, ...budget.status };
    const next = { ...before, ...this.#nextStatus(budget) };
    this.#lookAgainAtTimeout(key, next.disruptedPods);
    if (isDeepStrictEqual(next, before)) return;
    // A merge patch takes a key out of a map by null.
    const removed = Object.fromEntries(Object.keys(before.disruptedPods).map((name) => [name, null]));
    const { name, namespace } = budget.metadata;
    const body = statusPatch(budget, { ...next, disruptedPods: { ...removed, ...next.disruptedPods } });
    await this.context.api.policy.patchNamespacedPodDisruptionBudgetStatus({ name, namespace, body }, mergePatch);
  }

  #nextStatus(budget: PodDisruptionBudget): NonNullable<PodDisruptionBudget['status']> {
    const pods = this.context.informers.pods.list().filter((pod) => this.#isFor(budget, pod));
    const expectedScale = (): number => this.#expectedScale(pods);
    try {
      return disruptionStatus(budget, { pods, expectedScale, nowMs: Date.now() }, timestampNow());
    } catch (error) {
      const message = errorMessage(error);
      this.context.log.warn({ podDisruptionBudget: namespacedKey(budget), error: message }, 'no disruption is allowed');
      return failedStatus(budget, message, timestampNow());
    }
  }

  #lookAgainAtTimeout(key: string, disruptedPods: Readonly<Record<string, string>>): void {
    for (const at of Object.values(disruptedPods)) {
      this.#reconciler.enqueueAfter(key, Math.max(0, Date.parse(at) + disruptionTimeoutMs - Date.now()) + 1_000);
    }
  }

  /** The replicas that the pods' controllers want, each controller counted once; pods without one do not count. */
  #expectedScale(pods: readonly Pod[]): number {
    const replicasByController = new Map<string, number>();
    for (const pod of pods) {
      const controller = this.#scaleOf(pod);
      if (controller !== undefined) replicasByController.set(controller.uid, controller.replicas);
    }
    return [...replicasByController.values()].reduce((total, replicas) => total + replicas, 0);
  }

  #scaleOf(pod: Pod): Scale | undefined {
    const owner = controllerOf(pod);
    if (owner === undefined) return undefined;
    if (owner.kind !== 'ReplicaSet') throw new Error(`the scale of a ${owner.kind} is not known here`);
    const { deployments, replicaSets } = this.context.informers;
    const replicaSet = replicaSets.get(`${pod.metadata.namespace}/${owner.name}`);
    if (replicaSet?.metadata.uid !== owner.uid) throw new Error(`found no controllers for pod "${pod.metadata.name}"`);
    const deployment = controllerOf(replicaSet);
    if (deployment === undefined) return { uid: owner.uid, replicas: replicaSet.spec.replicas };
    const found = deployments.get(`${pod.metadata.namespace}/${deployment.name}`);
    if (found?.metadata.uid !== deployment.uid) throw new Error(`found no controllers for pod "${pod.metadata.name}"`);
    return { uid: deployment.uid, replicas: found.spec.replicas };
  }
}
