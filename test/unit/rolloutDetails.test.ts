import { describe, expect, it } from '@jest/globals';

import type { RolloutFailure, RolloutStatus } from '../../workflows/messages.js';
import { rolloutDetails } from '../../workflows/rolloutDetails.js';
import { admissionOf, candidateOf, statusOf, blockedOf } from './rolloutFixture.js';

const drifted = { reason: 'Drifted', reasonDetail: 'ImageDrift' } as const;

function failureOf(nodeClaim: string, held: boolean): RolloutFailure {
  const at = '2026-01-05T12:00:00.000Z';
  return { nodeClaim, uid: `uid-${nodeClaim}`, code: 'AllocationFailed', message: 'no room', at, rounds: 1, held };
}

function rowsOf(status: RolloutStatus): string[] {
  return rolloutDetails(status)
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(2);
}

describe('the headline of a rollout that has nothing in flight', () => {
  const headlineOf = (parts: Partial<RolloutStatus>): string | undefined =>
    rolloutDetails(statusOf(parts)).split('\n')[0];

  it('says when the budgets change next while somebody waits for a permit', () => {
    const admission = admissionOf({ waiting: [candidateOf('a')], nextChangeMs: Date.parse('2026-01-05T17:00:00Z') });
    expect(headlineOf({ admission })).toBe('**Waiting** for a permit; the budgets change at 2026-01-05T17:00:00.000Z.');
  });

  it('says what blocked candidates and failures wait for', () => {
    const blocked = [blockedOf('a', 'it has no Node yet')];
    expect(headlineOf({ admission: admissionOf({ blocked }) })).toBe('**Waiting** for what blocks the candidates.');
  });
});

describe('the headline', () => {
  const backoffUntil = '2026-01-05T12:01:00.000Z';

  it.each<[string, Partial<RolloutStatus>, string]>([
    ['nothing is to be done', {}, '**Quiet**.'],
    ['something is in flight', { inFlight: ['a'] }, '**Replacing nodes**.'],
    ['the pool backs off', { inFlight: ['a'], backoffUntil }, `**Backing off** until ${backoffUntil}.`],
    ['the pool is closed', { backoffUntil, admission: admissionOf({ closed: 'it is' }) }, '**Closed**: it is.'],
    [
      'the rollout has halted, before all else',
      { halted: 'ask', backoffUntil, admission: admissionOf({ closed: 'it is' }) },
      '**Halted**: ask.',
    ],
  ])('says when %s', (_, parts, expected) => {
    expect(rolloutDetails(statusOf(parts)).split('\n')[0]).toBe(expected);
  });
});

describe('the numbers', () => {
  it('are nodes, disrupted, budget and what became of them', () => {
    const status = statusOf({
      inFlight: ['b', 'c'],
      replaced: [{ ...drifted, nodeClaim: 'a', replacement: 'x', launchFailures: [] }],
      failures: [failureOf('d', false)],
      admission: admissionOf({ disrupted: ['b', 'c', 'e'] }),
    });
    expect(rolloutDetails(status)).toContain(
      'NodePool `general-purpose`: 10 nodes, 3 disrupted, budget Drifted 5 (#0). 1 replaced, 2 in flight, 1 failed.',
    );
  });

  it('say unbounded where no budget bounds the reason', () => {
    const admission = admissionOf({ allowances: [{ reason: 'Drifted', allowed: null, bindingBudget: null }] });
    expect(rolloutDetails(statusOf({ admission }))).toContain('budget Drifted unbounded.');
  });

  it('are none before the pool has been looked at', () => {
    expect(rolloutDetails(statusOf({ admission: null }))).toContain('0 nodes, 0 disrupted');
  });
});

describe('the table', () => {
  it('has a row a NodeClaim, with its phase and its replacement or the reason', () => {
    const status = statusOf({
      inFlight: ['draining', 'just-started'],
      replaced: [
        { ...drifted, nodeClaim: 'done', replacement: 'new', launchFailures: [] },
        {
          ...drifted,
          nodeClaim: 'done-late',
          replacement: 'newer',
          launchFailures: [{ nodeClaim: 'x', code: 'AllocationFailed', message: 'm' }],
        },
      ],
      failures: [failureOf('failed', false), failureOf('stopped', true)],
      admission: admissionOf({
        phases: [{ nodeClaim: 'draining', uid: 'u', phase: 'Drain', replacement: 'fresh' }],
        start: [candidateOf('just-started')],
        waiting: [candidateOf('next')],
        blocked: [blockedOf('kept', 'do not | disrupt')],
      }),
    });
    expect(rowsOf(status)).toEqual([
      '| draining | Drain | fresh |',
      '| just-started | Reserve |  |',
      '| failed | Failed | AllocationFailed: no room |',
      '| stopped | Waits for retry | AllocationFailed: no room |',
      '| kept | Blocked | do not \\| disrupt |',
      '| next | Waits for a permit | ImageDrift |',
      '| done | Replaced | new |',
      '| done-late | Replaced | newer, after AllocationFailed |',
    ]);
  });

  it('begins with those that are stuck', () => {
    const status = statusOf({
      inFlight: ['draining', 'stuck'],
      stuck: [{ nodeClaim: 'stuck', why: 'its workflow task fails' }],
      admission: admissionOf({
        phases: ['draining', 'stuck'].map((nodeClaim) => ({
          nodeClaim,
          uid: 'u',
          phase: 'Drain',
          replacement: 'fresh',
        })),
      }),
    });
    expect(rowsOf(status)).toEqual(['| stuck | Stuck | its workflow task fails |', '| draining | Drain | fresh |']);
  });

  it('shows once those whom a backoff or a halt keeps from starting', () => {
    const status = statusOf({
      halted: 'ask',
      failures: [failureOf('failed', false)],
      admission: admissionOf({ start: [candidateOf('failed'), candidateOf('could-start')] }),
    });
    expect(rowsOf(status)).toEqual([
      '| failed | Failed | AllocationFailed: no room |',
      '| could-start | Waits for a permit | ImageDrift |',
    ]);
  });

  it('does not show as failed what is tried again now', () => {
    const status = statusOf({ inFlight: ['a'], failures: [failureOf('a', false)] });
    expect(rowsOf(status)).toEqual(['| a | Reserve |  |']);
  });

  it('sums up what is beyond fifty rows', () => {
    const waiting = Array.from({ length: 53 }, (_, index) => candidateOf(`n-${index}`));
    const text = rolloutDetails(statusOf({ admission: admissionOf({ waiting }) }));
    expect(rowsOf(statusOf({ admission: admissionOf({ waiting }) }))).toHaveLength(50);
    expect(text.split('\n').at(-1)).toBe('and 3 more');
  });
});
