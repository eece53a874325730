import type { Pod, Taint } from './api.js';

const mirrorAnnotation = 'kubernetes.io/config.mirror';
const criticalPriorityClasses = ['system-cluster-critical', 'system-node-critical'];

/** What has to happen to a node's pods before its instance may go. */
export interface DrainStep {
  /** Evict these now. */
  readonly evict: readonly Pod[];
  /** Evicted or deleted already, not gone yet. */
  readonly terminating: readonly Pod[];
  /** Their turn comes when those before them are gone. */
  readonly later: readonly Pod[];
}

function tolerates(pod: Pod, taint: Taint): boolean {
  return (pod.spec.tolerations ?? []).some((toleration) => {
    const effectMatches =
      toleration.effect === undefined || toleration.effect === '' || toleration.effect === taint.effect;
    const anyKey = toleration.key === undefined || toleration.key === '';
    if (!effectMatches || (!anyKey && toleration.key !== taint.key)) return false;
    if (toleration.operator === 'Exists') return true;
    return !anyKey && (toleration.value ?? '') === (taint.value ?? '');
  });
}

function isOwnedByDaemonSet(pod: Pod): boolean {
  return pod.metadata.ownerReferences?.some(({ kind }) => kind === 'DaemonSet') ?? false;
}

function isCritical(pod: Pod): boolean {
  return criticalPriorityClasses.includes(pod.spec.priorityClassName ?? '');
}

/** Mirror pods, pods that have ended and pods that tolerate the taint stay, as in Karpenter. */
export function isDrainable(pod: Pod, taint: Taint): boolean {
  if (pod.metadata.annotations?.[mirrorAnnotation] !== undefined) return false;
  if (pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed') return false;
  return !tolerates(pod, taint);
}

/**
 * Karpenter's order of termination: non-critical before critical, within each those of no DaemonSet first; the next group waits
 * until the one before it is gone.
 * @param taint the taint that the node carries while it is drained
 */
export function nextDrainStep(pods: readonly Pod[], taint: Taint): DrainStep {
  const left = pods.filter((pod) => isDrainable(pod, taint));
  const group = (pod: Pod): number => (isCritical(pod) ? 2 : 0) + (isOwnedByDaemonSet(pod) ? 1 : 0);
  const turn = Math.min(...left.map(group));
  const now = left.filter((pod) => group(pod) === turn);
  return {
    evict: now.filter((pod) => pod.metadata.deletionTimestamp === undefined),
    terminating: now.filter((pod) => pod.metadata.deletionTimestamp !== undefined),
    later: left.filter((pod) => group(pod) !== turn),
  };
}

/** A pod that somebody would miss: it runs here, and belongs to no DaemonSet. */
export function isWorkload(pod: Pod, taint: Taint): boolean {
  return isDrainable(pod, taint) && !isOwnedByDaemonSet(pod);
}
