import type { V1Node } from '@kubernetes/client-node';

import { mergePatch } from '../../activities/kubernetes/kubernetesApi.js';
import { isTrue, withCondition } from '../../karpenter/conditions.js';
import type { BehaviourContext } from './behaviour.js';
import { deletePod } from './deletePod.js';
import type { Machine } from './machine.js';
import { isNodeOfMachine, providerIdOf } from './machine.js';
import type { MachineNode } from './machineNode.js';
import { machineNode } from './machineNode.js';
import type { Node, Pod } from './objects.js';
import { isTerminating, namespacedKey } from './objects.js';
import { runningStatus } from './podStatus.js';
import { Reconciler } from './reconciler.js';
import { Since } from './since.js';
import { statusPatch, timestampNow } from './statusPatch.js';

/** The part of the boot after which the kubelet registers its Node; the Node is Ready at the end of it. */
const registrationShare = 0.8;
const defaultGraceSeconds = 30;

const readyCondition = {
  type: 'Ready',
  status: 'True',
  reason: 'KubeletReady',
  message: 'kubelet is posting ready status',
} as const;
const notReadyCondition = {
  type: 'Ready',
  status: 'False',
  reason: 'KubeletNotReady',
  message: 'container runtime network not ready: cni plugin not initialized',
} as const;

/** Simulated milliseconds. */
export interface KubeletTimes {
  readonly nodeBootMs: number;
  readonly podStartMs: number;
  readonly podTerminationMs: number;
}

/** What the kubelet posts at first. The status follows when the API server shows the Node. */
function nodeOf(machine: Machine, { labels, taints }: MachineNode): V1Node {
  const spec = {
    providerID: providerIdOf(machine),
    taints: taints.map(({ key, value, effect }) => ({ key, value, effect })),
  };
  return { metadata: { name: machine.name, labels }, spec };
}

/** The kubelet of one machine, from the machine's start until its stop. */
export class Kubelet {
  readonly #node: Reconciler;
  readonly #pods: Reconciler;
  readonly #bound = new Since();
  readonly #terminating = new Since();
  readonly #registration: MachineNode;

  /** @throws when the machine's bootstrap or its size cannot be understood */
  constructor(
    readonly machine: Machine,
    private readonly context: BehaviourContext,
    private readonly times: KubeletTimes,
  ) {
    this.#registration = machineNode(machine);
    const log = context.log.child({ node: machine.name });
    this.#node = new Reconciler(() => this.#reconcileNode(), log, context.limit);
    this.#pods = new Reconciler((key) => this.#reconcilePod(key), log, context.limit);
  }

  start(): void {
    this.nodeChanged();
    for (const pod of this.context.informers.pods.list()) {
      if (pod.spec.nodeName === this.machine.name) this.podChanged(pod);
    }
    this.#node.start();
    this.#pods.start();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#node.stop(), this.#pods.stop()]);
  }

  nodeChanged(): void {
    this.#node.enqueue(this.machine.name);
  }

  podChanged(pod: Pod): void {
    this.#pods.enqueue(namespacedKey(pod));
  }

  podGone(pod: Pod): void {
    this.#bound.forget(pod.metadata.uid);
    this.#terminating.forget(pod.metadata.uid);
  }

  /** Real milliseconds until that part of the boot is done. */
  #untilBooted(share: number): number {
    return this.machine.at + (this.times.nodeBootMs * share) / this.context.speed - Date.now();
  }

  async #reconcileNode(): Promise<void> {
    const node = this.context.informers.nodes.get(this.machine.name);
    if (node === undefined) {
      await this.#register();
      return;
    }
    if (!isNodeOfMachine(node, this.machine)) {
      this.context.log.debug({ node: node.metadata.name }, 'another machine has a Node of this name');
      return;
    }
    if (isTrue(node, 'Ready')) return;
    const untilReadyMs = this.#untilBooted(1);
    if (untilReadyMs > 0) this.#node.enqueueAfter(this.machine.name, untilReadyMs);
    await this.#report(node, untilReadyMs <= 0);
  }

  async #register(): Promise<void> {
    const untilRegisteredMs = this.#untilBooted(registrationShare);
    if (untilRegisteredMs > 0) {
      this.#node.enqueueAfter(this.machine.name, untilRegisteredMs);
      return;
    }
    await this.context.api.core.createNode({ body: nodeOf(this.machine, this.#registration) });
  }

  /** Writes the Node's status, unless it says so already. */
  async #report(node: Node, ready: boolean): Promise<void> {
    const before = node.status?.conditions ?? [];
    const conditions = withCondition(before, ready ? readyCondition : notReadyCondition, timestampNow());
    if (conditions === before && node.status?.allocatable !== undefined) return;
    const { capacity, allocatable } = this.#registration;
    const body = statusPatch(node, { capacity, allocatable, conditions });
    await this.context.api.core.patchNodeStatus({ name: this.machine.name, body }, mergePatch);
  }

  async #reconcilePod(key: string): Promise<void> {
    const pod = this.context.informers.pods.get(key);
    if (pod?.spec.nodeName !== this.machine.name) return;
    if (isTerminating(pod)) await this.#terminate(pod);
    else if ((pod.status?.phase ?? 'Pending') === 'Pending') await this.#run(pod);
  }

  async #run(pod: Pod): Promise<void> {
    if (this.#waits(pod, this.#bound, this.times.podStartMs)) return;
    const { name, namespace } = pod.metadata;
    const body = statusPatch(pod, runningStatus(pod, timestampNow()));
    await this.context.api.core.patchNamespacedPodStatus({ name, namespace, body }, mergePatch);
  }

  async #terminate(pod: Pod): Promise<void> {
    const graceMs = (pod.metadata.deletionGracePeriodSeconds ?? defaultGraceSeconds) * 1_000;
    if (this.#waits(pod, this.#terminating, Math.min(this.times.podTerminationMs, graceMs))) return;
    await deletePod(this.context.api, pod, 0);
  }

  /** Whether less than that (simulated) has passed since the pod was first seen so; then it is looked at again at the end of it. */
  #waits(pod: Pod, since: Since, durationMs: number): boolean {
    const remainingMs = durationMs / this.context.speed - since.elapsedMs(pod.metadata.uid);
    if (remainingMs <= 0) return false;
    this.#pods.enqueueAfter(namespacedKey(pod), remainingMs);
    return true;
  }
}
