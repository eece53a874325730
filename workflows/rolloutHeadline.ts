import type { RolloutStatus } from './messages.js';

/** What a rollout is about in one line: a word for its state, and the rest of the sentence. */
export interface RolloutHeadline {
  readonly state: 'Paused' | 'Halted' | 'Closed' | 'Backing off' | 'Replacing nodes' | 'Waiting' | 'Quiet';
  /** Goes on right after the state, e.g. ` until 2026-01-05T12:01:00Z.` */
  readonly rest: string;
}

/** What keeps the rollout from starting more comes before what it does. */
export function rolloutHeadline(status: RolloutStatus): RolloutHeadline {
  const { paused, halted, admission, backoffUntil, inFlight } = status;
  if (paused !== null) return { state: 'Paused', rest: ` by ${paused.by} since ${paused.since}: ${paused.why}.` };
  if (halted !== null) return { state: 'Halted', rest: `: ${halted}.` };
  if (typeof admission?.closed === 'string') return { state: 'Closed', rest: `: ${admission.closed}.` };
  if (backoffUntil !== null) return { state: 'Backing off', rest: ` until ${backoffUntil}.` };
  if (inFlight.length > 0) return { state: 'Replacing nodes', rest: '.' };
  const waitsFor = waitsForText(status);
  return waitsFor === undefined ? { state: 'Quiet', rest: '.' } : { state: 'Waiting', rest: ` for ${waitsFor}.` };
}

/** What a rollout waits for that has nothing in flight. */
function waitsForText({ admission, failures, skipped }: RolloutStatus): string | undefined {
  if (admission !== null && admission.waiting.count > 0) {
    const { nextChangeMs, isCapped } = admission;
    const change = nextChangeMs === null ? '' : `; the budgets change at ${new Date(nextChangeMs).toISOString()}`;
    return isCapped
      ? 'replacements in other NodePools: the cluster-wide cap is reached, or our own pods move there'
      : `a permit${change}`;
  }
  if (failures.length > 0) return 'somebody to retry what failed';
  if (admission !== null && admission.blocked.count > 0) return 'what blocks the candidates';
  return skipped.length > 0 ? 'the end of what was skipped' : undefined;
}
