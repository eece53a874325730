import type { Excerpt } from '../karpenter/admissionReport.js';
import { markdownTable } from './markdown.js';
import type { RolloutStatus } from './messages.js';

/** Rows beyond this are summed up: the UI shows current details as one page. */
const maxRows = 50;

function allowedText(status: RolloutStatus): string {
  const allowances = status.admission?.allowances ?? [];
  return allowances
    .map(({ reason, allowed, bindingBudget }) =>
      allowed === null ? `${reason} unbounded` : `${reason} ${allowed} by budgets[${String(bindingBudget)}]`,
    )
    .join(', ');
}

function headline(status: RolloutStatus): string {
  if (status.paused !== null)
    return `**Paused** by ${status.paused.by} since ${status.paused.since}: ${status.paused.why}.`;
  if (status.halted !== null) return `**Halted**: ${status.halted}.`;
  if (typeof status.admission?.closed === 'string') return `**Closed**: ${status.admission.closed}.`;
  if (status.backoffUntil !== null) return `**Backing off** until ${status.backoffUntil}.`;
  if (status.inFlight.length > 0) return '**Replacing nodes**.';
  return waitsText(status) ?? '**Quiet**.';
}

/** What a rollout waits for that has nothing in flight. */
function waitsText({ admission, failures, skipped }: RolloutStatus): string | undefined {
  if (admission !== null && admission.waiting.count > 0) {
    const { nextChangeMs, isCapped } = admission;
    const change = nextChangeMs === null ? '' : `; the budgets change at ${new Date(nextChangeMs).toISOString()}`;
    return isCapped
      ? '**Waiting** for replacements in other NodePools: the cluster-wide cap is reached, or our own pods move there.'
      : `**Waiting** for a permit${change}.`;
  }
  if (failures.length > 0) return '**Waiting** for somebody to retry what failed.';
  if (admission !== null && admission.blocked.count > 0) return '**Waiting** for what blocks the candidates.';
  return skipped.length > 0 ? '**Waiting** for the end of what was skipped.' : undefined;
}

function rows(status: RolloutStatus): string[][] {
  const { admission } = status;
  const inFlight = (admission?.phases.first ?? []).map(({ nodeClaim, phase, replacement }) => [
    nodeClaim,
    phase,
    replacement ?? '',
  ]);
  const known = new Set(inFlight.map(([nodeClaim]) => nodeClaim));
  const justStarted = status.inFlight
    .filter((nodeClaim) => !known.has(nodeClaim))
    .map((nodeClaim) => [nodeClaim, 'Reserve', '']);
  const failed = status.failures
    .filter(({ nodeClaim }) => !status.inFlight.includes(nodeClaim))
    .map(({ nodeClaim, code, message, held }) => [
      nodeClaim,
      held ? 'Waits for retry' : 'Failed',
      `${code}: ${message}`,
    ]);
  const blocked = (admission?.blocked.first ?? []).map(({ nodeClaim, why }) => [nodeClaim, 'Blocked', why]);
  const skipped = status.skipped.map(({ nodeClaim, until, by, why }) => [
    nodeClaim,
    'Skipped',
    `until ${until}, by ${by}: ${why}`,
  ]);
  // Who could start but did not, in a backoff or a halt, waits as well: the headline says for what.
  const told = new Set([...status.inFlight, ...[...failed, ...skipped].map(([nodeClaim]) => nodeClaim)]);
  const waiting = [...(admission?.start ?? []), ...(admission?.waiting.first ?? [])]
    .filter(({ nodeClaim }) => !told.has(nodeClaim))
    .map(({ nodeClaim, reasonDetail }) => [nodeClaim, 'Waits for a permit', reasonDetail]);
  const replaced = status.replaced.map(({ nodeClaim, replacement, launchFailures }) => [
    nodeClaim,
    'Replaced',
    launchFailures.length === 0
      ? (replacement ?? 'empty: nothing had to take its place')
      : `${replacement ?? 'nothing'}, after ${launchFailures.map(({ code }) => code).join(', ')}`,
  ]);
  return [...inFlight, ...justStarted, ...failed, ...skipped, ...blocked, ...waiting, ...replaced];
}

/** How many an excerpt leaves out. */
function hidden(excerpt: Excerpt<unknown> | undefined): number {
  return excerpt === undefined ? 0 : excerpt.count - excerpt.first.length;
}

/** What people did to the rollout, the latest first. */
function interventionLines({ interventions }: RolloutStatus): string[] {
  const lines = [...interventions]
    .reverse()
    .slice(0, 10)
    .map(
      ({ what, by, why, at, nodeClaim }) =>
        `- ${at} ${what}${nodeClaim === null ? '' : ` ${nodeClaim}`} by ${by}: ${why}`,
    );
  return lines.length === 0 ? [] : ['', ...lines];
}

/** The rollout as Markdown, for the current details in the Temporal UI. */
export function rolloutDetails(status: RolloutStatus): string {
  const all = rows(status);
  const untold =
    hidden(status.admission?.waiting) + hidden(status.admission?.blocked) + hidden(status.admission?.phases);
  const more = Math.max(0, all.length - maxRows) + untold;
  const { nodes, disrupted } = status.admission ?? { nodes: 0, disrupted: 0 };
  return [
    headline(status),
    '',
    `NodePool \`${status.nodePool}\`: ${nodes} nodes, ${disrupted} disrupted, budget ${allowedText(status)}. ` +
      `${status.replaced.length} replaced, ${status.inFlight.length} in flight, ${status.failures.length} failed.`,
    '',
    markdownTable(['NodeClaim', 'Phase', 'Replacement or reason'], all.slice(0, maxRows)),
    ...(more > 0 ? ['', `and ${more} more`] : []),
    ...interventionLines(status),
  ].join('\n');
}
