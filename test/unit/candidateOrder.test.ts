import { describe, expect, it } from '@jest/globals';

import type { Candidate } from '../../karpenter/candidate.js';
import { orderCandidates } from '../../karpenter/candidateOrder.js';
import { candidateOf } from './rolloutFixture.js';

/** In the order of age. */
const drifted = candidateOf('drifted');
const emptyLater: Candidate = { ...candidateOf('empty'), isEmpty: true };
const retried = candidateOf('retried');
const failed = candidateOf('failed');
const byHand: Candidate = { ...candidateOf('by-hand'), reason: 'Manual' };
const ours: Candidate = { ...candidateOf('ours'), carriesControlPlane: true };
const youngest = candidateOf('youngest');

function order(
  candidates: readonly Candidate[],
  first: readonly Candidate[] = [],
  last: readonly Candidate[] = [],
): string[] {
  const uids = (some: readonly Candidate[]): Set<string> => new Set(some.map(({ uid }) => uid));
  return orderCandidates(candidates, { first: uids(first), last: uids(last) }).map(({ nodeClaim }) => nodeClaim);
}

describe('the order of candidates', () => {
  it('is people’s wishes, empty nodes, age, those that failed before, and our own pods’ nodes', () => {
    const all = [ours, failed, drifted, emptyLater, retried, byHand, youngest];
    expect(order(all, [retried], [failed])).toEqual([
      'retried',
      'by-hand',
      'empty',
      'drifted',
      'youngest',
      'failed',
      'ours',
    ]);
  });

  it('is by age among equals', () => {
    expect(order([drifted, retried, youngest])).toEqual(['drifted', 'retried', 'youngest']);
  });

  it('puts a retry of what failed first, and other failures last, whatever else they are', () => {
    expect(order([drifted, failed], [failed], [failed])).toEqual(['failed', 'drifted']);
    expect(order([emptyLater, drifted], [], [emptyLater])).toEqual(['drifted', 'empty']);
    expect(order([byHand, drifted], [], [byHand])).toEqual(['drifted', 'by-hand']);
  });

  it('leaves our own pods’ nodes for last, though a person asked for them', () => {
    expect(order([{ ...ours, reason: 'Manual' }, failed, drifted], [ours], [failed])).toEqual([
      'drifted',
      'failed',
      'ours',
    ]);
  });

  it('changes no list that it is given', () => {
    const given = [drifted, emptyLater];
    order(given);
    expect(given).toEqual([drifted, emptyLater]);
  });
});
