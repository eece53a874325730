import { describe, expect, it } from '@jest/globals';

import { findCandidates } from '../../karpenter/candidate.js';
import { joinPool } from '../../karpenter/pool.js';
import { easyRules, machineOf, nodePoolOf, poolOf } from './poolFixture.js';

const driftedSince = '2026-01-05T12:00:00Z';
const atMs = Date.parse('2026-01-05T13:00:00Z');

describe('NodeClaims that are not as they should be', () => {
  it('r079: one without a NodePool is nobody’s candidate', () => {
    const ours = machineOf('ours', { driftedSince });
    const { nodeClaim, node } = machineOf('alone', { driftedSince });
    const alone = { ...nodeClaim, metadata: { ...nodeClaim.metadata, labels: {} } };
    const nodes = [ours.node, node].filter((one) => one !== undefined);
    const { candidates, blocked } = findCandidates(
      joinPool({ nodePool: nodePoolOf(), nodeClaims: [ours.nodeClaim, alone], nodes }),
      easyRules,
      atMs,
    );
    expect(candidates.map((candidate) => candidate.nodeClaim)).toEqual(['ours']);
    expect(blocked).toEqual([]);
  });

  it('r080: one without a Node, and one whose Node is being deleted, are skipped with a reason; the sound one is not held up', () => {
    const { candidates, blocked } = findCandidates(
      poolOf([
        machineOf('a-without-node', { driftedSince, hasNode: false }),
        machineOf('b-going', { driftedSince, isNodeDeleted: true }),
        machineOf('c-sound', { driftedSince }),
      ]),
      easyRules,
      atMs,
    );
    expect(candidates.map(({ nodeClaim }) => nodeClaim)).toEqual(['c-sound']);
    expect(blocked).toMatchObject([
      { nodeClaim: 'a-without-node', why: 'it has no Node yet' },
      { nodeClaim: 'b-going', why: 'it is being deleted already' },
    ]);
  });
});
