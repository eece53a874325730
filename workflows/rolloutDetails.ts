import { markdownTable } from './markdown.js';
import type { RolloutStatus } from './messages.js';
import { rolloutHeadline } from './rolloutHeadline.js';
import { rolloutRowHead, rolloutRows, untoldRows } from './rolloutRows.js';

/** Rows beyond this are summed up: the UI shows current details as one page. */
const maxRows = 50;

function allowedText(status: RolloutStatus): string {
  const allowances = status.admission?.allowances ?? [];
  return allowances.map(({ reason, allowed }) => `${reason} ${allowed ?? 'unbounded'}`).join(', ');
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
  const { state, rest } = rolloutHeadline(status);
  const rows = rolloutRows(status);
  const more = Math.max(0, rows.length - maxRows) + untoldRows(status);
  const { nodes, disrupted } = status.admission ?? { nodes: 0, disrupted: 0 };
  return [
    `**${state}**${rest}`,
    '',
    `NodePool \`${status.nodePool}\`: ${nodes} nodes, ${disrupted} disrupted, budget ${allowedText(status)}. ` +
      `${status.replaced.length} replaced, ${status.inFlight.length} in flight, ${status.failures.length} failed.`,
    '',
    markdownTable(rolloutRowHead, rows.slice(0, maxRows)),
    ...(more > 0 ? ['', `and ${more} more`] : []),
    ...interventionLines(status),
  ].join('\n');
}
