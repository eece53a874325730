import type { MarkChange } from '../karpenter/waitingMark.js';
import { waitingMark } from '../karpenter/waitingMark.js';
import type { KubernetesApi } from './kubernetes/kubernetesApi.js';
import { updateNode } from './kubernetes/nodes.js';

/** So many writes at once: a pool may have a thousand waiting nodes. */
const concurrency = 10;

/** Puts the soft taint on nodes that wait, and takes it off those that do not. */
export async function applyMarkChanges(kubernetes: KubernetesApi, changes: readonly MarkChange[]): Promise<void> {
  for (let at = 0; at < changes.length; at += concurrency) {
    await Promise.all(changes.slice(at, at + concurrency).map((change) => applyMarkChange(kubernetes, change)));
  }
}

async function applyMarkChange(kubernetes: KubernetesApi, { node, isWaiting }: MarkChange): Promise<void> {
  await updateNode(kubernetes, node, ({ spec, metadata }) => {
    const taints = spec?.taints ?? [];
    const others = taints.filter(({ key }) => key !== waitingMark.key);
    const isMarked = others.length < taints.length;
    if (isMarked === isWaiting || metadata.deletionTimestamp !== undefined) return undefined;
    return { taints: isWaiting ? [...others, waitingMark] : others };
  });
}
