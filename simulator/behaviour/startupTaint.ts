import { mergePatch } from '../../activities/kubernetes/kubernetesApi.js';
import { isTrue } from '../../karpenter/conditions.js';
import type { Behaviour, BehaviourContext } from './behaviour.js';
import { Reconciler } from './reconciler.js';

const agentNotReadyTaint = 'node.cilium.io/agent-not-ready';

/** The Cilium agent: takes its startup taint off a Node that is Ready. */
export class StartupTaint implements Behaviour {
  readonly #reconciler: Reconciler;

  constructor(private readonly context: BehaviourContext) {
    this.#reconciler = new Reconciler((name) => this.#reconcile(name), context.log, context.limit);
    context.informers.nodes.onChange(({ object }) => {
      this.#reconciler.enqueue(object.metadata.name);
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
    if (node === undefined || !isTrue(node, 'Ready')) return;
    const taints = node.spec?.taints ?? [];
    const remaining = taints.filter(({ key }) => key !== agentNotReadyTaint);
    if (remaining.length === taints.length) return;
    const body = { metadata: { resourceVersion: node.metadata.resourceVersion }, spec: { taints: remaining } };
    await this.context.api.core.patchNode({ name, body }, mergePatch);
  }
}
