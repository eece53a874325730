import type { NodeClaim } from './api.js';
import { conditionTypes, getCondition } from './conditions.js';
import { replacesAnnotation } from './labels.js';
import type { Pool } from './pool.js';

/** How long a step of a replacement takes. */
export interface DurationEstimate {
  readonly durationMs: number;
  /** The median of so many that were seen; 0: nothing was seen, it is assumed. */
  readonly seen: number;
}

/** How long the steps of one replacement take. */
export interface PlanDurations {
  /** From a NodeClaim's creation to Initialized. */
  readonly initialize: DurationEstimate;
  /** From the replacement's Initialized to the end of the old instance's drain. */
  readonly drain: DurationEstimate;
  /** From the beginning of an instance's deletion to its end. */
  readonly delete: DurationEstimate;
}

const assumedMs = { initialize: 180_000, drain: 60_000, delete: 60_000 } as const;
/** Older ones tell of another VM size, image or season of Azure. */
const maxSeen = 20;

function sinceMs(nodeClaim: NodeClaim, type: string): number | undefined {
  const condition = getCondition(nodeClaim, type);
  return condition?.status === 'True' && condition.lastTransitionTime !== undefined
    ? Date.parse(condition.lastTransitionTime)
    : undefined;
}

function median(sorted: readonly number[]): number | undefined {
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle];
  const lower = sorted[middle - 1];
  if (upper === undefined || lower === undefined) return upper;
  return sorted.length % 2 === 0 ? (lower + upper) / 2 : upper;
}

function estimate(seenMs: readonly number[], otherwiseMs: number): DurationEstimate {
  const durationMs = median([...seenMs].sort((a, b) => a - b));
  return durationMs === undefined ? { durationMs: otherwiseMs, seen: 0 } : { durationMs, seen: seenMs.length };
}

/** Creation to Initialized of the pool's youngest NodeClaims; a clock that ran backwards tells nothing. */
function initializeDurationsMs({ machines }: Pool): readonly number[] {
  return machines
    .flatMap(({ nodeClaim }) => {
      const initializedMs = sinceMs(nodeClaim, conditionTypes.initialized);
      const createdMs = Date.parse(nodeClaim.metadata.creationTimestamp ?? '');
      const durationMs = (initializedMs ?? Number.NaN) - createdMs;
      return durationMs > 0 ? [{ createdMs, durationMs }] : [];
    })
    .sort((a, b) => b.createdMs - a.createdMs)
    .slice(0, maxSeen)
    .map(({ durationMs }) => durationMs);
}

/** Seen where the old NodeClaim is still there after its drain; it goes soon. */
function drainDurationsMs({ machines }: Pool): readonly number[] {
  const initializedMs = new Map(
    machines.map(({ nodeClaim }) => [
      nodeClaim.metadata.annotations?.[replacesAnnotation],
      sinceMs(nodeClaim, conditionTypes.initialized),
    ]),
  );
  return machines.flatMap(({ nodeClaim }) => {
    const beganMs = initializedMs.get(nodeClaim.metadata.uid) ?? Number.NaN;
    const durationMs = (sinceMs(nodeClaim, conditionTypes.instanceTerminating) ?? Number.NaN) - beganMs;
    return durationMs > 0 ? [durationMs] : [];
  });
}

/** How long things take in this pool: what its own NodeClaims show, else an assumption. */
export function estimateDurations(pool: Pool): PlanDurations {
  return {
    initialize: estimate(initializeDurationsMs(pool), assumedMs.initialize),
    drain: estimate(drainDurationsMs(pool), assumedMs.drain),
    // A NodeClaim vanishes with its instance: nothing shows how long that took.
    delete: { durationMs: assumedMs.delete, seen: 0 },
  };
}
