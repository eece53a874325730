import type { Pod, Taint } from './api.js';
import { isMirror, isOwnedByDaemonSet, isTerminal, isTerminating, tolerates } from './pods.js';

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

function isCritical(pod: Pod): boolean {
  return criticalPriorityClasses.includes(pod.spec.priorityClassName ?? '');
}

/** Mirror pods, pods that have ended and pods that tolerate the taint stay, as in Karpenter. */
export function isDrainable(pod: Pod, taint: Taint): boolean {
  return !isMirror(pod) && !isTerminal(pod) && !tolerates(pod, taint);
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
    evict: now.filter((pod) => !isTerminating(pod)),
    terminating: now.filter(isTerminating),
    later: left.filter((pod) => group(pod) !== turn),
  };
}

/** A pod that somebody would miss: it runs here, and belongs to no DaemonSet. */
export function isWorkload(pod: Pod, taint: Taint): boolean {
  return isDrainable(pod, taint) && !isOwnedByDaemonSet(pod);
}
