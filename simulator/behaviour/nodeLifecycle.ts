import { mergePatch } from '../../activities/kubernetes/kubernetesApi.js';
import type { Taint } from '../../karpenter/api.js';
import { getCondition, withCondition } from '../../karpenter/conditions.js';
import type { Behaviour, BehaviourContext } from './behaviour.js';
import { isNodeOfMachine } from './machine.js';
import type { MachineFeed } from './machineFeed.js';
import type { Node } from './objects.js';
import { Reconciler } from './reconciler.js';
import { Since } from './since.js';
import { statusPatch, timestampNow } from './statusPatch.js';

/** Simulated: how long a kubelet may be silent. */
const monitorGraceMs = 40_000;
const notReadyTaint = 'node.kubernetes.io/not-ready';
const unreachableTaint = 'node.kubernetes.io/unreachable';

/** The taints with the one that belongs to the Node's Ready condition; the same list when nothing changes. */
function withReadinessTaint(taints: readonly Taint[], node: Node): readonly Taint[] {
  const ready = getCondition(node, 'Ready');
  if (ready === undefined) return taints;
  const wanted = { True: undefined, False: notReadyTaint, Unknown: unreachableTaint }[ready.status];
  const isOurs = ({ key, effect }: Taint): boolean =>
    effect === 'NoSchedule' && (key === notReadyTaint || key === unreachableTaint);
  const present = taints.filter(isOurs);
  if (present.length === (wanted === undefined ? 0 : 1) && present.every(({ key }) => key === wanted)) return taints;
  const others = taints.filter((taint) => !isOurs(taint));
  return wanted === undefined ? others : [...others, { key: wanted, effect: 'NoSchedule' }];
}

/**
 * The node lifecycle controller: a Node whose machine has stopped becomes Unknown (only with a machine feed), and Nodes that are not
 * Ready carry the taint that says so.
 */
export class NodeLifecycle implements Behaviour {
  readonly #reconciler: Reconciler;
  readonly #silent = new Since();

  constructor(
    private readonly context: BehaviourContext,
    private readonly feed: MachineFeed | undefined,
  ) {
    this.#reconciler = new Reconciler((name) => this.#reconcile(name), context.log, context.limit);
    context.informers.nodes.onChange(({ type, object }) => {
      if (type === 'set') this.#reconciler.enqueue(object.metadata.name);
      else this.#silent.forget(object.metadata.uid);
    });
    feed?.onEvent((event) => {
      if (event.type === 'connected') this.#enqueueAll();
      else this.#reconciler.enqueue(event.machine.name);
    });
  }

  start(): void {
    this.#reconciler.start();
  }

  stop(): Promise<void> {
    return this.#reconciler.stop();
  }

  #enqueueAll(): void {
    for (const { metadata } of this.context.informers.nodes.list()) this.#reconciler.enqueue(metadata.name);
  }

  async #reconcile(name: string): Promise<void> {
    const node = this.context.informers.nodes.get(name);
    if (node === undefined) return;
    if (this.#isLost(node)) await this.#markUnknown(node);
    const before = node.spec?.taints ?? [];
    const taints = withReadinessTaint(before, node);
    if (taints === before) return;
    const body = { metadata: { resourceVersion: node.metadata.resourceVersion }, spec: { taints } };
    await this.context.api.core.patchNode({ name, body }, mergePatch);
  }

  /** Whether the Node's machine has been away for longer than a kubelet may be silent. */
  #isLost(node: Node): boolean {
    if (this.feed === undefined || !this.feed.connected) return false;
    if (node.spec?.providerID?.startsWith('azure://') !== true) return false;
    const { name, uid } = node.metadata;
    const machine = this.feed.running.get(name);
    if (machine !== undefined && isNodeOfMachine(node, machine)) {
      this.#silent.forget(uid);
      return false;
    }
    const remainingMs = monitorGraceMs / this.context.speed - this.#silent.elapsedMs(uid);
    if (remainingMs > 0) this.#reconciler.enqueueAfter(name, remainingMs);
    return remainingMs <= 0;
  }

  async #markUnknown(node: Node): Promise<void> {
    const before = node.status?.conditions ?? [];
    const conditions = withCondition(
      before,
      {
        type: 'Ready',
        status: 'Unknown',
        reason: 'NodeStatusUnknown',
        message: 'Kubelet stopped posting node status.',
      },
      timestampNow(),
    );
    if (conditions === before) return;
    await this.context.api.core.patchNodeStatus(
      { name: node.metadata.name, body: statusPatch(node, { conditions }) },
      mergePatch,
    );
  }
}
