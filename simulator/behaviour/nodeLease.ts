import { mergePatch } from '../../activities/kubernetes/kubernetesApi.js';
import { isNotFound } from './apiErrors.js';
import type { Behaviour, BehaviourContext } from './behaviour.js';
import { isNodeOfMachine } from './machine.js';
import type { MachineFeed } from './machineFeed.js';
import type { Node } from './objects.js';
import { Reconciler } from './reconciler.js';

const leases = {
  group: 'coordination.k8s.io',
  version: 'v1',
  namespace: 'kube-node-lease',
  plural: 'leases',
} as const;
const durationSeconds = 40;
/** Real time, as a kubelet does it and the real node lifecycle controller expects it. */
const renewEveryMs = 10_000;

/** RFC 3339 in microseconds. */
function microTimeNow(): string {
  return new Date().toISOString().replace('Z', '000Z');
}

/** What the kubelet of a Node says by its Lease: it was there a moment ago. It goes with its Node. */
function leaseOf({ metadata: { name, uid } }: Node): object {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }] },
    spec: { holderIdentity: name, leaseDurationSeconds: durationSeconds, renewTime: microTimeNow() },
  };
}

/** The heartbeat of the kubelets, without which a real node lifecycle controller takes their Nodes for lost. */
export class NodeLease implements Behaviour {
  readonly #reconciler: Reconciler;

  constructor(
    private readonly context: BehaviourContext,
    private readonly feed: MachineFeed,
  ) {
    this.#reconciler = new Reconciler((name) => this.#reconcile(name), context.log, context.limit);
    context.informers.nodes.onChange((event) => {
      const isNew = event.type === 'set' && event.previous === undefined;
      if (isNew) this.#reconciler.enqueue(event.object.metadata.name);
    });
    feed.onEvent((event) => {
      if (event.type === 'started') this.#reconciler.enqueue(event.machine.name);
    });
  }

  start(): void {
    this.#reconciler.start();
  }

  stop(): Promise<void> {
    return this.#reconciler.stop();
  }

  async #reconcile(name: string): Promise<void> {
    const node = this.context.informers.nodes.get(name);
    const machine = this.feed.running.get(name);
    if (node === undefined || machine === undefined || !isNodeOfMachine(node, machine)) return;
    await this.#renew(node);
    this.#reconciler.enqueueAfter(name, renewEveryMs);
  }

  async #renew(node: Node): Promise<void> {
    const { custom } = this.context.api;
    const body = { spec: { renewTime: microTimeNow() } };
    try {
      await custom.patchNamespacedCustomObject({ ...leases, name: node.metadata.name, body }, mergePatch);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      await custom.createNamespacedCustomObject({ ...leases, body: leaseOf(node) });
    }
  }
}
