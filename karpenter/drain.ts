import type { Pod, Taint } from './api.js';
import { isMirror, isOwnedByDaemonSet, isProtected, isTerminal, isTerminating, tolerates } from './pods.js';

const criticalPriorityClasses = ['system-cluster-critical', 'system-node-critical'];
/** How long past the end of its grace a pod may still be there before nobody waits for it: its kubelet is dead. Karpenter's. */
const stuckAfterMs = 60_000;
/** Never 0: that would take the pod out of the API while it may still run. */
const leastGraceSeconds = 1;

/** A pod that is deleted whatever stands against it, with what grace is left. */
export interface ForcedDeletion {
  readonly pod: Pod;
  readonly graceSeconds: number;
}

/** What has to happen to a node's pods before its instance may go. No pod is in two of these. */
export interface DrainStep {
  /** Evict these now. */
  readonly evict: readonly Pod[];
  /** Delete these now: their own grace would end after the deadline, or it has passed. */
  readonly forceDelete: readonly ForcedDeletion[];
  /** `karpenter.sh/do-not-disrupt` holds the drain until it ends by itself. */
  readonly protected: readonly Pod[];
  /** Evicted or deleted already, not gone yet. */
  readonly terminating: readonly Pod[];
  /** Their turn comes when those before them are gone. */
  readonly later: readonly Pod[];
  /** Should have been gone a minute ago: not waited for. */
  readonly stuck: readonly Pod[];
}

/** When a drain is looked at, and when it has to end; epoch milliseconds. */
export interface DrainClock {
  readonly nowMs: number;
  /** Under a terminationGracePeriod. */
  readonly deadlineMs?: number | undefined;
}

function isCritical(pod: Pod): boolean {
  return criticalPriorityClasses.includes(pod.spec.priorityClassName ?? '');
}

/** Mirror pods, pods that have ended and pods that tolerate the taint stay, as in Karpenter. */
export function isDrainable(pod: Pod, taint: Taint): boolean {
  return !isMirror(pod) && !isTerminal(pod) && !tolerates(pod, taint);
}

/** When its kubelet has to have ended a terminating pod, epoch milliseconds. */
export function terminationEndMs({ metadata }: Pod): number | undefined {
  return metadata.deletionTimestamp === undefined ? undefined : Date.parse(metadata.deletionTimestamp);
}

/** It has been terminating for more than a minute beyond its grace: Karpenter's rule for a kubelet that is dead. */
export function isStuckTerminating(pod: Pod, nowMs: number): boolean {
  const endMs = terminationEndMs(pod);
  return endMs !== undefined && nowMs - endMs > stuckAfterMs;
}

/** Karpenter's rule: a pod is deleted at the deadline minus its own grace; one that terminates beyond the deadline is cut short. */
function needsForcedDeletion(pod: Pod, { nowMs, deadlineMs }: DrainClock): boolean {
  if (deadlineMs === undefined) return false;
  const endMs = terminationEndMs(pod);
  if (endMs !== undefined) {
    return endMs > deadlineMs && (pod.metadata.deletionGracePeriodSeconds ?? Infinity) > leastGraceSeconds;
  }
  const { terminationGracePeriodSeconds } = pod.spec;
  return terminationGracePeriodSeconds !== undefined && nowMs > deadlineMs - terminationGracePeriodSeconds * 1000;
}

/** What is left of a pod's grace when it is deleted for the deadline, in whole seconds. */
function graceSecondsLeft({ nowMs, deadlineMs = nowMs }: DrainClock): number {
  return Math.max(Math.floor((deadlineMs - nowMs) / 1000), leastGraceSeconds);
}

/**
 * Karpenter's order of termination: non-critical before critical, within each those of no DaemonSet first; the next group waits
 * until the one before it is gone. The deadline waits for no order.
 * @param taint the taint that the node carries while it is drained
 */
export function nextDrainStep(pods: readonly Pod[], taint: Taint, clock: DrainClock): DrainStep {
  const drainable = pods.filter((pod) => isDrainable(pod, taint));
  const waitedFor = drainable.filter((pod) => !isStuckTerminating(pod, clock.nowMs));
  const graceful = waitedFor.filter((pod) => !needsForcedDeletion(pod, clock));
  const group = (pod: Pod): number => (isCritical(pod) ? 2 : 0) + (isOwnedByDaemonSet(pod) ? 1 : 0);
  const turn = Math.min(...graceful.map(group));
  const isHeld = (pod: Pod): boolean => isProtected(pod, clock.nowMs);
  const open = graceful.filter((pod) => !isHeld(pod));
  return {
    evict: open.filter((pod) => group(pod) === turn && !isTerminating(pod)),
    forceDelete: waitedFor
      .filter((pod) => needsForcedDeletion(pod, clock))
      .map((pod) => ({ pod, graceSeconds: graceSecondsLeft(clock) })),
    protected: graceful.filter(isHeld),
    terminating: open.filter((pod) => group(pod) === turn && isTerminating(pod)),
    later: open.filter((pod) => group(pod) !== turn),
    stuck: drainable.filter((pod) => isStuckTerminating(pod, clock.nowMs)),
  };
}

/** Nothing is left that the drain waits for. */
export function isDrained({ evict, forceDelete, protected: held, terminating, later }: DrainStep): boolean {
  return [evict, forceDelete, held, terminating, later].every((pods) => pods.length === 0);
}

/** A pod that somebody would miss: it runs here, and belongs to no DaemonSet. */
export function isWorkload(pod: Pod, taint: Taint): boolean {
  return isDrainable(pod, taint) && !isOwnedByDaemonSet(pod);
}

/** No controller makes it anew: an eviction is its end. */
export function isBare({ metadata }: Pod): boolean {
  return !(metadata.ownerReferences ?? []).some(({ controller }) => controller === true);
}
