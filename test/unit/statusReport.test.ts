import { describe, expect, it } from '@jest/globals';

import { statusLines } from '../../client/cli/statusReport.js';
import { textTable, wrapText } from '../../client/cli/textTable.js';
import type { RolloutSight } from '../../client/rollouts.js';
import type { RolloutStatus } from '../../workflows/messages.js';
import { admissionOf, blockedOf, candidateOf, statusOf } from './rolloutFixture.js';

function linesOf(rollout: RolloutSight): readonly string[] {
  return statusLines({ cluster: 'c', nodePools: [{ nodePool: 'general-purpose', rollout }] });
}

const since = '2026-01-05T12:00:00.000Z';
const longReason = 'the new image has a kernel that our storage driver does not know, we wait for its vendor';

const busy: RolloutStatus = statusOf({
  paused: { by: 'ana', why: longReason, since },
  inFlight: ['general-purpose-a1b2c'],
  failures: [
    {
      nodeClaim: 'general-purpose-x9y8z',
      uid: 'u',
      code: 'AllocationFailed',
      message:
        'Allocation failed. We do not have sufficient capacity for the requested VM size in this zone. Read more about improving likelihood of allocation success at http://aka.ms/allocation-guidance',
      at: since,
      rounds: 2,
      held: false,
    },
  ],
  interventions: [{ by: 'ana', why: longReason, at: since, what: 'pause', nodeClaim: null }],
  admission: admissionOf({
    phases: [{ nodeClaim: 'general-purpose-a1b2c', uid: 'u2', phase: 'Drain', replacement: 'general-purpose-d4e5f' }],
    blocked: [
      blockedOf(
        'general-purpose-k7l8m',
        'pod default/inflate-5d9f8c7b6-abcde is annotated karpenter.sh/do-not-disrupt',
      ),
    ],
    waiting: Array.from({ length: 60 }, (_, index) => candidateOf(`general-purpose-w${String(index)}`)),
  }),
});

describe('driftless status, in text', () => {
  it('tells all of a busy pool in eighty columns', () => {
    const lines = linesOf({ kind: 'running', status: busy });
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    const text = lines.join('\n');
    expect(lines[0]).toBe('NodePool general-purpose: Paused by ana since 2026-01-05T12:00:00.000Z: the new');
    expect(text).toMatch(/^general-purpose-a1b2c +Drain +general-purpose-d4e5f$/m);
    expect(text).toMatch(/^general-purpose-x9y8z +Failed +AllocationFailed: Allocation failed\./m);
    expect(text).toContain('http://aka.ms');
    expect(text).toContain('\nand 10 more\n');
    expect(text).toContain('- 2026-01-05T12:00:00.000Z pause by ana: the new image');
  });

  it('needs two lines for a pool that asks for nothing', () => {
    expect(linesOf({ kind: 'running', status: statusOf() })).toEqual([
      'NodePool general-purpose: Quiet.',
      '10 nodes, 0 disrupted, budget Drifted 5 (#0). 0 replaced, 0 in flight, 0 failed.',
    ]);
  });

  it('says of whom a rollout runs that does not answer', () => {
    const text = linesOf({ kind: 'silent', why: 'deadline exceeded' }).join(' ');
    expect(text).toContain('its rollout runs, but does not answer: does a worker of this cluster run? deadline');
  });

  it('says of whom no rollout runs, and how the last one ended', () => {
    expect(linesOf({ kind: 'never' })).toEqual(['NodePool general-purpose: no rollout runs, and none is on record.']);
    expect(linesOf({ kind: 'ended', how: 'COMPLETED', at: since })).toEqual([
      'NodePool general-purpose: no rollout runs; the last one ended as COMPLETED at',
      `${since}.`,
    ]);
  });
});

describe('text for terminals', () => {
  it('is broken at spaces, and in a word where it has to be', () => {
    expect(wrapText('ab cd efghijkl m', 5)).toEqual(['ab cd', 'efghi', 'jkl m']);
    expect(wrapText('', 5)).toEqual(['']);
  });

  it('goes on below in the last column of a table', () => {
    const [head, first, second] = textTable(
      ['a', 'text'],
      [['x'.repeat(40), 'one two three four five six seven eight']],
    );
    expect(head).toBe(`${'A'.padEnd(40)}  TEXT`);
    expect(first).toBe(`${'x'.repeat(40)}  one two three four five six seven`);
    expect(second).toBe(`${' '.repeat(42)}eight`);
  });
});
