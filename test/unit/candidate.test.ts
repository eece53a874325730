import { describe, expect, it } from '@jest/globals';

import { findCandidates } from '../../karpenter/candidate.js';
import type { MachineShape } from './poolFixture.js';
import { easyRules, machineOf, poolOf } from './poolFixture.js';

const driftedSince = '2026-01-05T12:00:00Z';
const atMs = Date.parse('2026-01-05T13:00:00Z');

describe('candidates', () => {
  it('are told with their Node, their reason, its detail and since when', () => {
    expect(findCandidates(poolOf([machineOf('a', { driftedSince })]), easyRules, atMs)).toEqual({
      candidates: [
        {
          nodeClaim: 'a',
          uid: 'uid-a',
          node: 'aks-a',
          reason: 'Drifted',
          reasonDetail: 'ImageDrift',
          since: driftedSince,
          isEmpty: true,
          carriesControlPlane: false,
        },
      ],
      blocked: [],
    });
  });

  it('stand in the order of their drift, the oldest first, then by name', () => {
    const pool = poolOf([
      machineOf('late', { driftedSince: '2026-01-05T12:00:02Z' }),
      machineOf('b', { driftedSince: '2026-01-05T12:00:01Z' }),
      machineOf('a', { driftedSince: '2026-01-05T12:00:01Z' }),
      machineOf('early', { driftedSince: '2026-01-05T11:59:59Z' }),
    ]);
    expect(findCandidates(pool, easyRules, atMs).candidates.map(({ nodeClaim }) => nodeClaim)).toEqual([
      'early',
      'a',
      'b',
      'late',
    ]);
  });

  it.each<[string, MachineShape]>([
    ['one that nobody wants replaced', {}],
    ['one with another condition', { trueConditions: ['Consolidatable'] }],
    ['one whose instance is terminating', { driftedSince, isInstanceTerminating: true }],
  ])('do not include %s', (_, shape) => {
    expect(findCandidates(poolOf([machineOf('a', shape)]), easyRules, atMs)).toEqual({ candidates: [], blocked: [] });
  });

  it.each<[string, MachineShape, string]>([
    ['its NodeClaim is being deleted', { isDeleted: true }, 'it is being deleted already'],
    ['its Node is being deleted', { isNodeDeleted: true }, 'it is being deleted already'],
    ['it has no Node', { hasNode: false }, 'it has no Node yet'],
    ['its Node is not Initialized', { isInitialized: false }, 'its Node is not initialized yet'],
    ['its Node says so', { doNotDisrupt: 'true' }, 'its Node is annotated karpenter.sh/do-not-disrupt'],
  ])('are blocked, with the reason in words, when %s', (_, shape, why) => {
    const { candidates, blocked } = findCandidates(
      poolOf([machineOf('a', { driftedSince, ...shape })]),
      easyRules,
      atMs,
    );
    expect(candidates).toEqual([]);
    expect(blocked).toMatchObject([
      { nodeClaim: 'a', uid: 'uid-a', reason: 'Drifted', reasonDetail: 'ImageDrift', why },
    ]);
  });

  it.each(['false', 'True', '', '10m'])(
    'are not blocked by do-not-disrupt "%s": exactly `true` counts',
    (doNotDisrupt) => {
      expect(
        findCandidates(poolOf([machineOf('a', { driftedSince, doNotDisrupt })]), easyRules, atMs).candidates,
      ).toHaveLength(1);
    },
  );
});
