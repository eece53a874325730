import type { Excerpt } from '../karpenter/admissionReport.js';
import type { RolloutStatus } from './messages.js';

/** NodeClaim, phase, and its replacement or the reason why it has none. */
export type RolloutRow = readonly [nodeClaim: string, phase: string, text: string];

/** The head of a table of such rows. */
export const rolloutRowHead: RolloutRow = ['NodeClaim', 'Phase', 'Replacement or reason'];

/** A row for each NodeClaim that the rollout knows of; of the many that wait, the first ones. */
export function rolloutRows(status: RolloutStatus): readonly RolloutRow[] {
  const failed = failedRows(status);
  const skipped = status.skipped.map(({ nodeClaim, until, by, why }): RolloutRow => {
    return [nodeClaim, 'Skipped', `until ${until}, by ${by}: ${why}`];
  });
  const stuck = (status.stuck ?? []).map(({ nodeClaim, why }): RolloutRow => [nodeClaim, 'Stuck', why]);
  const held = new Set([...stuck, ...failed, ...skipped].map(([nodeClaim]) => nodeClaim));
  return [
    ...stuck,
    // What a stopped replacement left tainted is told of as what it is: stopped.
    ...inFlightRows(status).filter(([nodeClaim]) => !held.has(nodeClaim)),
    ...failed,
    ...skipped,
    ...blockedRows(status).filter(([nodeClaim]) => !held.has(nodeClaim)),
    ...waitingRows(status).filter(([nodeClaim]) => !held.has(nodeClaim)),
    ...replacedRows(status),
  ];
}

function inFlightRows({ admission, inFlight }: RolloutStatus): readonly RolloutRow[] {
  const seen = (admission?.phases.first ?? []).map(({ nodeClaim, phase, replacement }): RolloutRow => {
    return [nodeClaim, phase, replacement ?? ''];
  });
  const seenNames = new Set(seen.map(([nodeClaim]) => nodeClaim));
  const justStarted = inFlight.filter((nodeClaim) => !seenNames.has(nodeClaim));
  return [...seen, ...justStarted.map((nodeClaim): RolloutRow => [nodeClaim, 'Reserve', ''])];
}

function failedRows({ failures, inFlight }: RolloutStatus): readonly RolloutRow[] {
  return failures
    .filter(({ nodeClaim }) => !inFlight.includes(nodeClaim))
    .map(({ nodeClaim, code, message, held }): RolloutRow => {
      return [nodeClaim, held ? 'Waits for retry' : 'Failed', `${code}: ${message}`];
    });
}

function blockedRows({ admission }: RolloutStatus): readonly RolloutRow[] {
  return (admission?.blocked.first ?? []).map(({ nodeClaim, why }): RolloutRow => [nodeClaim, 'Blocked', why]);
}

/** Who could start but did not, in a pause, a backoff or a halt, waits as well: the headline says for what. */
function waitingRows({ admission, inFlight }: RolloutStatus): readonly RolloutRow[] {
  return [...(admission?.start ?? []), ...(admission?.waiting.first ?? [])]
    .filter(({ nodeClaim }) => !inFlight.includes(nodeClaim))
    .map(({ nodeClaim, reasonDetail }): RolloutRow => [nodeClaim, 'Waits for a permit', reasonDetail]);
}

function replacedRows({ replaced }: RolloutStatus): readonly RolloutRow[] {
  return replaced.map(({ nodeClaim, replacement, launchFailures }): RolloutRow => {
    const codes = launchFailures.map(({ code }) => code).join(', ');
    if (codes !== '') return [nodeClaim, 'Replaced', `${replacement ?? 'nothing'}, after ${codes}`];
    return [nodeClaim, 'Replaced', replacement ?? 'empty: nothing had to take its place'];
  });
}

/** How many NodeClaims that wait, are blocked or in flight no row tells of. */
export function untoldRows({ admission }: RolloutStatus): number {
  return hidden(admission?.waiting) + hidden(admission?.blocked) + hidden(admission?.phases);
}

/** How many an excerpt leaves out. */
function hidden(excerpt: Excerpt<unknown> | undefined): number {
  return excerpt === undefined ? 0 : excerpt.count - excerpt.first.length;
}
