import { markdownTable } from './markdown.js';
import type { RolloutStatus } from './messages.js';
import { rolloutHeadline } from './rolloutHeadline.js';
import { rolloutRowHead, rolloutRows, untoldRows } from './rolloutRows.js';
import { interventionTexts, rolloutNumbers } from './rolloutText.js';

/** Rows beyond this are summed up: the UI shows current details as one page. */
const maxRows = 50;

/** The rollout as Markdown, for the current details in the Temporal UI. */
export function rolloutDetails(status: RolloutStatus): string {
  const { state, rest } = rolloutHeadline(status);
  const rows = rolloutRows(status);
  const more = Math.max(0, rows.length - maxRows) + untoldRows(status);
  const interventions = interventionTexts(status).map((text) => `- ${text}`);
  return [
    `**${state}**${rest}`,
    '',
    `NodePool \`${status.nodePool}\`: ${rolloutNumbers(status)}`,
    '',
    markdownTable(rolloutRowHead, rows.slice(0, maxRows)),
    ...(more > 0 ? ['', `and ${more} more`] : []),
    ...(interventions.length > 0 ? ['', ...interventions] : []),
  ].join('\n');
}
