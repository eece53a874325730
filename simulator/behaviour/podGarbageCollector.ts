import { isNotFound } from './apiErrors.js';
import type { Behaviour, BehaviourContext } from './behaviour.js';
import { deletePod } from './deletePod.js';
import { namespacedKey } from './objects.js';
import { Reconciler } from './reconciler.js';
import { Since } from './since.js';

/** Simulated: how long a Node must have been gone before its pods go, too. */
const quarantineMs = 5_000;

/** Deletes the pods that are bound to a Node that does not exist any more. */
export class PodGarbageCollector implements Behaviour {
  readonly #reconciler: Reconciler;
  readonly #orphaned = new Since();

  constructor(private readonly context: BehaviourContext) {
    this.#reconciler = new Reconciler((key) => this.#reconcile(key), context.log, context.limit);
    const { nodes, pods } = context.informers;
    pods.onChange(({ type, object }) => {
      if (type === 'set') this.#reconciler.enqueue(namespacedKey(object));
      else this.#orphaned.forget(object.metadata.uid);
    });
    nodes.onChange(({ type, object }) => {
      if (type === 'deleted') this.#enqueuePodsOf(object.metadata.name);
    });
  }

  start(): void {
    this.#reconciler.start();
  }

  stop(): Promise<void> {
    return this.#reconciler.stop();
  }

  #enqueuePodsOf(nodeName: string): void {
    for (const pod of this.context.informers.pods.list()) {
      if (pod.spec.nodeName === nodeName) this.#reconciler.enqueue(namespacedKey(pod));
    }
  }

  async #reconcile(key: string): Promise<void> {
    const { nodes, pods } = this.context.informers;
    const pod = pods.get(key);
    const nodeName = pod?.spec.nodeName;
    if (pod === undefined || nodeName === undefined) return;
    const { uid } = pod.metadata;
    if (nodes.get(nodeName) !== undefined) {
      this.#orphaned.forget(uid);
      return;
    }
    const remainingMs = quarantineMs / this.context.speed - this.#orphaned.elapsedMs(uid);
    if (remainingMs > 0) {
      this.#reconciler.enqueueAfter(key, remainingMs);
      return;
    }
    if (await this.#nodeExists(nodeName)) return;
    this.context.log.info({ pod: key, node: nodeName }, 'deleting the pod of a node that is gone');
    await deletePod(this.context.api, pod, 0);
  }

  /** Asked live: an informer may lag behind. */
  async #nodeExists(name: string): Promise<boolean> {
    try {
      await this.context.api.core.readNode({ name });
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }
}
