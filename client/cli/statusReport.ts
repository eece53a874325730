import { rolloutHeadline } from '../../workflows/rolloutHeadline.js';
import type { RolloutStatus } from '../../workflows/messages.js';
import { rolloutRowHead, rolloutRows, untoldRows } from '../../workflows/rolloutRows.js';
import { interventionTexts, rolloutNumbers } from '../../workflows/rolloutText.js';
import type { RolloutSight } from '../rollouts.js';
import { textTable, wrapText } from './textTable.js';

/** What `driftless status -o json` answers: each NodePool with what is to be seen of its rollout. */
export interface StatusReport {
  readonly cluster: string;
  readonly nodePools: readonly { readonly nodePool: string; readonly rollout: RolloutSight }[];
}

/** The report for people, in the width of a terminal. */
export function statusLines({ nodePools }: StatusReport): readonly string[] {
  const blocks = nodePools.map(({ nodePool, rollout }) => [...poolLines(nodePool, rollout), '']);
  return blocks.flat().slice(0, -1);
}

function poolLines(nodePool: string, rollout: RolloutSight): readonly string[] {
  switch (rollout.kind) {
    case 'running':
      return runningLines(nodePool, rollout.status);
    case 'silent':
      return wrapText(
        `NodePool ${nodePool}: its rollout runs, but does not answer: does a worker of this cluster run? ${rollout.why}`,
      );
    case 'ended':
      return wrapText(
        `NodePool ${nodePool}: no rollout runs; the last one ended as ${rollout.how} at ${rollout.at ?? 'a time unknown'}.`,
      );
    case 'never':
      return wrapText(`NodePool ${nodePool}: no rollout runs, and none is on record.`);
  }
}

function runningLines(nodePool: string, status: RolloutStatus): readonly string[] {
  const { state, rest } = rolloutHeadline(status);
  const rows = rolloutRows(status);
  const untold = untoldRows(status);
  const interventions = interventionTexts(status);
  return [
    ...wrapText(`NodePool ${nodePool}: ${state}${rest}`),
    ...wrapText(rolloutNumbers(status)),
    ...(rows.length > 0 ? textTable(rolloutRowHead, rows) : []),
    ...(untold > 0 ? [`and ${untold} more`] : []),
    ...(interventions.length > 0 ? ['By hand, the latest first:'] : []),
    ...interventions.flatMap((text) => wrapText(text, 78).map((line, index) => `${index === 0 ? '- ' : '  '}${line}`)),
  ];
}
