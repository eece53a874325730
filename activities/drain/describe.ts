import type { DrainClock, DrainStep } from '../../karpenter/drain.js';
import { terminationEndMs } from '../../karpenter/drain.js';
import { podName } from '../../karpenter/pods.js';
import type { DrainJournal, Obstacle } from './journal.js';

/** Messages and Events have their limits: so many of a kind are named. */
const maxNamed = 5;

/** The first few, and how many more there are. */
export function listed(texts: readonly string[], separator = ', '): string {
  const more = texts.length - maxNamed;
  return [...texts.slice(0, maxNamed), ...(more > 0 ? [`and ${more} more`] : [])].join(separator);
}

function timeText(atMs: number): string {
  return new Date(atMs).toISOString();
}

/** e.g. `shop/web-1 since 2026-01-05T12:00:00.000Z: The disruption budget web needs 2 healthy pods and has 2 currently` */
export function describeObstacles(obstacles: readonly Obstacle[]): string {
  const oldestFirst = obstacles.toSorted((one, other) => one.sinceMs - other.sinceMs);
  return listed(
    oldestFirst.map(({ pod, why, sinceMs }) => `${pod} since ${timeText(sinceMs)}: ${why}`),
    '; ',
  );
}

/** Pods whose kubelet should have ended them by now: often it is dead. */
function describeOverdue({ terminating }: DrainStep, nowMs: number, nodeIsReady: boolean): string[] {
  return terminating.flatMap((pod) => {
    const endMs = terminationEndMs(pod);
    if (endMs === undefined || endMs >= nowMs) return [];
    return [`${podName(pod)} should have ended at ${timeText(endMs)}${nodeIsReady ? '' : ', its Node is not Ready'}`];
  });
}

/**
 * What a drain waits for, as people read it in the UI.
 * @param accepted how many pods were evicted or deleted just now
 */
export function describeDrain(
  step: DrainStep,
  journal: DrainJournal,
  { nowMs, deadlineMs }: DrainClock,
  { accepted, nodeIsReady }: { readonly accepted: number; readonly nodeIsReady: boolean },
): string {
  const overdue = describeOverdue(step, nowMs, nodeIsReady);
  return [
    ...(journal.obstacles.length === 0 ? [] : [describeObstacles(journal.obstacles)]),
    `${step.terminating.length + accepted} pods terminating`,
    ...(overdue.length === 0 ? [] : [listed(overdue, '; ')]),
    ...(step.later.length === 0 ? [] : [`${step.later.length} to be evicted after them`]),
    ...(deadlineMs === undefined ? [] : [`terminationGracePeriod ends at ${timeText(deadlineMs)}`]),
  ].join('; ');
}
