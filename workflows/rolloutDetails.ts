import { markdownTable } from './markdown.js';
import type { RolloutStatus } from './messages.js';

/** Rows beyond this are summed up: the UI shows current details as one page. */
const maxRows = 50;

function allowedText(status: RolloutStatus): string {
  const allowances = status.admission?.allowances ?? [];
  return allowances.map(({ reason, allowed }) => `${reason} ${allowed ?? 'unbounded'}`).join(', ');
}

function headline(status: RolloutStatus): string {
  if (status.halted !== null) return `**Halted**: ${status.halted}.`;
  if (status.admission?.closed !== undefined) return `**Closed**: ${status.admission.closed}.`;
  if (status.backoffUntil !== null) return `**Backing off** until ${status.backoffUntil}.`;
  if (status.inFlight.length > 0) return '**Replacing nodes**.';
  return waitsText(status) ?? '**Quiet**.';
}

/** What a rollout waits for that has nothing in flight. */
function waitsText({ admission, failures }: RolloutStatus): string | undefined {
  const { waiting, blocked, nextChangeMs } = admission ?? { waiting: [], blocked: [], nextChangeMs: null };
  if (waiting.length > 0) {
    const change =
      typeof nextChangeMs === 'number' ? `; the budgets change at ${new Date(nextChangeMs).toISOString()}` : '';
    return `**Waiting** for a permit${change}.`;
  }
  if (failures.length > 0) return '**Waiting** for somebody to retry what failed.';
  return blocked.length > 0 ? '**Waiting** for what blocks the candidates.' : undefined;
}

function rows(status: RolloutStatus): string[][] {
  const { admission } = status;
  const inFlight = (admission?.phases ?? []).map(({ nodeClaim, phase, replacement }) => [
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
  const blocked = (admission?.blocked ?? []).map(({ nodeClaim, why }) => [nodeClaim, 'Blocked', why]);
  // Who could start but did not, in a backoff or a halt, waits as well: the headline says for what.
  const told = new Set([...status.inFlight, ...failed.map(([nodeClaim]) => nodeClaim)]);
  const waiting = [...(admission?.start ?? []), ...(admission?.waiting ?? [])]
    .filter(({ nodeClaim }) => !told.has(nodeClaim))
    .map(({ nodeClaim, reasonDetail }) => [nodeClaim, 'Waits for a permit', reasonDetail]);
  const replaced = status.replaced.map(({ nodeClaim, replacement, launchFailures }) => [
    nodeClaim,
    'Replaced',
    launchFailures.length === 0
      ? replacement
      : `${replacement}, after ${launchFailures.map(({ code }) => code).join(', ')}`,
  ]);
  return [...inFlight, ...justStarted, ...failed, ...blocked, ...waiting, ...replaced];
}

/** The rollout as Markdown, for the current details in the Temporal UI. */
export function rolloutDetails(status: RolloutStatus): string {
  const all = rows(status);
  const { nodes, disrupted } = status.admission ?? { nodes: 0, disrupted: [] };
  return [
    headline(status),
    '',
    `NodePool \`${status.nodePool}\`: ${nodes} nodes, ${disrupted.length} disrupted, budget ${allowedText(status)}. ` +
      `${status.replaced.length} replaced, ${status.inFlight.length} in flight, ${status.failures.length} failed.`,
    '',
    markdownTable(['NodeClaim', 'Phase', 'Replacement or reason'], all.slice(0, maxRows)),
    ...(all.length > maxRows ? ['', `and ${all.length - maxRows} more`] : []),
  ].join('\n');
}
