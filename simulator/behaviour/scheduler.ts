import type { V1Binding } from '@kubernetes/client-node';

import { mergePatch } from '../../activities/kubernetes/kubernetesApi.js';
import { isTrue, withCondition } from '../../karpenter/conditions.js';
import { isNotFound } from './apiErrors.js';
import type { Behaviour, BehaviourContext } from './behaviour.js';
import type { Pod } from './objects.js';
import { isFinished, isTerminating, namespacedKey } from './objects.js';
import { Reconciler } from './reconciler.js';
import { decide } from './schedulingRules.js';
import { SchedulingUsage } from './schedulingUsage.js';
import { statusPatch, timestampNow } from './statusPatch.js';

const defaultScheduler = 'default-scheduler';

function isPending(pod: Pod): boolean {
  return (
    pod.spec.nodeName === undefined &&
    !isTerminating(pod) &&
    !isFinished(pod) &&
    (pod.spec.schedulerName ?? defaultScheduler) === defaultScheduler
  );
}

function ignoredConstraints(pod: Pod): readonly string[] {
  return [
    ...((pod.spec.topologySpreadConstraints ?? []).length > 0 ? ['topologySpreadConstraints'] : []),
    ...(pod.spec.affinity?.podAffinity === undefined ? [] : ['podAffinity']),
    ...(pod.spec.affinity?.podAntiAffinity === undefined ? [] : ['podAntiAffinity']),
  ];
}

function bindingOf({ metadata: { name, namespace, uid } }: Pod, nodeName: string): V1Binding {
  return { metadata: { name, namespace, uid }, target: { apiVersion: 'v1', kind: 'Node', name: nodeName } };
}

/** Binds pending pods to nodes. Between the decision and the informer's showing it a binding is assumed: no room is given twice. */
export class Scheduler implements Behaviour {
  readonly #reconciler: Reconciler;
  readonly #usage = new SchedulingUsage();
  readonly #pending = new Set<string>();
  /** UIDs of pods whose binding failed in a way that leaves open whether it took place. */
  readonly #inDoubt = new Set<string>();

  constructor(private readonly context: BehaviourContext) {
    this.#reconciler = new Reconciler((key) => this.#reconcile(key), context.log, context.limit);
    const { nodes, pods } = context.informers;
    nodes.onChange(({ type, object }) => {
      // A node that cannot take pods helps nobody who waits.
      if (type === 'set' && object.spec?.unschedulable !== true && isTrue(object, 'Ready')) this.#enqueuePending();
    });
    pods.onChange((event) => {
      if (event.type === 'deleted') this.#podGone(event.object);
      else this.#podChanged(event.object, event.previous);
    });
  }

  start(): void {
    this.#reconciler.start();
  }

  stop(): Promise<void> {
    return this.#reconciler.stop();
  }

  #podChanged(pod: Pod, previous: Pod | undefined): void {
    const key = namespacedKey(pod);
    // After a lost watch a pod may show up as the successor of one of the same name.
    if (previous !== undefined && previous.metadata.uid !== pod.metadata.uid) this.#podGone(previous);
    this.#usage.observe(pod);
    if (isPending(pod)) {
      this.#pending.add(key);
      this.#reconciler.enqueue(key);
      return;
    }
    this.#pending.delete(key);
    if (isFinished(pod)) this.#enqueuePending();
  }

  #podGone(pod: Pod): void {
    this.#usage.forget(pod);
    this.#inDoubt.delete(pod.metadata.uid);
    this.#pending.delete(namespacedKey(pod));
    this.#enqueuePending();
  }

  #enqueuePending(): void {
    for (const key of this.#pending) this.#reconciler.enqueue(key);
  }

  async #reconcile(key: string): Promise<void> {
    const pod = this.context.informers.pods.get(key);
    if (pod === undefined || !isPending(pod)) return;
    if (this.#inDoubt.has(pod.metadata.uid)) await this.#resolveDoubt(pod);
    if (this.#usage.isPlaced(pod)) return;
    const ignored = ignoredConstraints(pod);
    if (ignored.length > 0)
      this.context.log.debug({ pod: key, ignored }, 'constraints that this scheduler does not know');
    const decision = decide(pod, this.context.informers.nodes.list(), this.#usage);
    switch (decision.kind) {
      case 'bind':
        await this.#bind(pod, decision.nodeName);
        break;
      case 'unschedulable':
        await this.#markUnschedulable(pod, decision.message);
        break;
    }
  }

  async #bind(pod: Pod, nodeName: string): Promise<void> {
    const { name, namespace, uid } = pod.metadata;
    this.#usage.place(pod, nodeName);
    try {
      await this.context.api.core.createNamespacedPodBinding({ name, namespace, body: bindingOf(pod, nodeName) });
    } catch (error) {
      this.#inDoubt.add(uid);
      throw error;
    }
  }

  /** Asks the API server where the pod is: the informer may not show it yet. */
  async #resolveDoubt(pod: Pod): Promise<void> {
    const { name, namespace, uid } = pod.metadata;
    const boundTo = await this.#nodeNameOf(name, namespace, uid);
    this.#inDoubt.delete(uid);
    if (boundTo === undefined) this.#usage.forget(pod);
    else this.#usage.place(pod, boundTo);
  }

  async #nodeNameOf(name: string, namespace: string, uid: string): Promise<string | undefined> {
    try {
      const pod = await this.context.api.core.readNamespacedPod({ name, namespace });
      return pod.metadata?.uid === uid ? pod.spec?.nodeName : undefined;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async #markUnschedulable(pod: Pod, message: string): Promise<void> {
    const before = pod.status?.conditions ?? [];
    const condition = { type: 'PodScheduled', status: 'False' as const, reason: 'Unschedulable', message };
    const conditions = withCondition(before, condition, timestampNow());
    if (conditions === before) return;
    const { name, namespace } = pod.metadata;
    await this.context.api.core.patchNamespacedPodStatus(
      { name, namespace, body: statusPatch(pod, { conditions }) },
      mergePatch,
    );
  }
}
