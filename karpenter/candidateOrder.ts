import type { Candidate } from './candidate.js';
import { manualReason } from './disruptionReason.js';

/** What a rollout knows of candidates that the cluster does not show. */
export interface LineInput {
  /** UIDs that people asked to be tried again. */
  readonly first: ReadonlySet<string>;
  /** UIDs that failed before. */
  readonly last: ReadonlySet<string>;
}

function rank(candidate: Candidate, { first, last }: LineInput): number {
  if (candidate.carriesControlPlane) return 4;
  if (first.has(candidate.uid)) return 0;
  if (last.has(candidate.uid)) return 3;
  if (candidate.reason === manualReason) return 0;
  return candidate.isEmpty ? 1 : 2;
}

/**
 * Who goes first: what people asked for, then empty nodes, then the oldest reason; who failed before goes to the end, and nodes with
 * Driftless' or Temporal's own pods come last.
 * @param candidates in the order of age
 */
export function orderCandidates(candidates: readonly Candidate[], input: LineInput): readonly Candidate[] {
  return [...candidates].sort((a, b) => rank(a, input) - rank(b, input));
}
