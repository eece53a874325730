import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';

import type { RolloutState } from '../../workflows/rolloutState.js';
import {
  allocationFailed,
  childOf,
  endChild,
  mayStart,
  observedRollout,
  replaced,
  rolloutSettings,
  startMs,
} from './rolloutFixture.js';

const { backoffMs, backoffMaxMs, haltAfterFailures } = rolloutSettings;

beforeEach(() => {
  // The longest backoff that jitter gives: the whole one.
  jest.spyOn(Math, 'random').mockReturnValue(1);
});

afterEach(() => {
  jest.restoreAllMocks();
});

describe('the backoff', () => {
  it('doubles with each failure in a row, up to the maximum', () => {
    const rollout = observedRollout(['a', 'b']);
    const expectedMs = [60_000, 120_000, 240_000, 480_000, 600_000, 600_000, 600_000];
    for (const [index, waitMs] of expectedMs.entries()) {
      const nowMs = startMs + index;
      endChild(rollout, 'a', allocationFailed, nowMs);
      expect(rollout.status(nowMs).backoffUntil).toBe(new Date(nowMs + waitMs).toISOString());
    }
    expect(Math.max(...expectedMs)).toBe(backoffMaxMs);
  });

  it.each([
    [0, 0.8],
    [0.5, 0.9],
    [1, 1],
  ])('has jitter of a fifth at the most: random %d gives %d of it', (random, share) => {
    jest.spyOn(Math, 'random').mockReturnValue(random);
    const rollout = observedRollout(['a']);
    endChild(rollout, 'a', allocationFailed, startMs);
    expect(rollout.carry().backoff.untilMs).toBeCloseTo(startMs + backoffMs * share, 3);
  });

  it('keeps why the node was to be replaced with the failure', () => {
    const rollout = observedRollout(['a']);
    endChild(rollout, 'a', allocationFailed, startMs);
    expect(rollout.result().failures).toMatchObject([
      { reason: 'Drifted', reasonDetail: 'ImageDrift', code: 'AllocationFailed' },
    ]);
  });

  it('starts nobody before its end, everybody after it', () => {
    const rollout = observedRollout(['a', 'b']);
    endChild(rollout, 'a', allocationFailed, startMs);
    expect(mayStart(rollout, startMs + backoffMs - 1)).toEqual([]);
    expect(mayStart(rollout, startMs + backoffMs)).toEqual(['a', 'b']);
    expect(rollout.status(startMs + backoffMs).backoffUntil).toBeNull();
  });

  it('begins anew after a success', () => {
    const rollout = observedRollout(['a', 'b']);
    endChild(rollout, 'a', allocationFailed, startMs);
    endChild(rollout, 'a', allocationFailed, startMs);
    endChild(rollout, 'b', { kind: 'ended', result: replaced('b') }, startMs);
    endChild(rollout, 'a', allocationFailed, startMs);
    expect(rollout.carry()).toMatchObject({ backoff: { failuresInARow: 1, untilMs: startMs + backoffMs } });
  });

  it('is not for what a person stopped', () => {
    const rollout = observedRollout(['a']);
    endChild(rollout, 'a', { kind: 'stoppedByHand', code: 'Canceled' }, startMs);
    expect(rollout.carry()).toMatchObject({ backoff: { failuresInARow: 0, untilMs: 0, halted: null } });
  });

  it('is not for what needed no replacement; that is no success either', () => {
    const rollout = observedRollout(['a', 'b']);
    endChild(rollout, 'a', allocationFailed, startMs);
    const why = 'it is no longer Drifted';
    endChild(rollout, 'b', { kind: 'ended', result: { kind: 'notNeeded', nodeClaim: 'b', why } }, startMs);
    expect(rollout.carry()).toMatchObject({ backoff: { failuresInARow: 1 }, notNeeded: [{ nodeClaim: 'b', why }] });
  });
});

describe('the halt', () => {
  function failInARow(count: number): RolloutState {
    const rollout = observedRollout(['a', 'b']);
    for (let failure = 0; failure < count; failure += 1) endChild(rollout, 'a', allocationFailed, startMs);
    return rollout;
  }

  it(`comes after ${haltAfterFailures} failures in a row, not before, and says why`, () => {
    expect(failInARow(haltAfterFailures - 1).status(startMs).halted).toBeNull();
    expect(failInARow(haltAfterFailures).status(startMs).halted).toBe(
      '5 replacements in a row failed, the last with AllocationFailed; retry when the cause is gone',
    );
  });

  it('starts nobody on its own, however long it waits, whatever succeeds meanwhile', () => {
    const rollout = failInARow(haltAfterFailures);
    rollout.adopted(childOf('b'));
    rollout.childEnded(childOf('b'), { kind: 'ended', result: replaced('b') }, startMs);
    expect(mayStart(rollout, startMs + 100 * backoffMaxMs)).toEqual([]);
  });

  it('is counted over failures in a row only', () => {
    const rollout = failInARow(haltAfterFailures - 1);
    endChild(rollout, 'b', { kind: 'ended', result: replaced('b') }, startMs);
    for (let failure = 1; failure < haltAfterFailures; failure += 1) endChild(rollout, 'a', allocationFailed, startMs);
    expect(rollout.status(startMs).halted).toBeNull();
  });

  it('ends with a retry, and so does the backoff', () => {
    const rollout = failInARow(haltAfterFailures);
    rollout.retry({}, startMs);
    expect(rollout.status(startMs)).toMatchObject({ halted: null, backoffUntil: null });
    expect(mayStart(rollout, startMs)).toEqual(['a', 'b']);
    endChild(rollout, 'a', allocationFailed, startMs);
    expect(rollout.carry()).toMatchObject({ backoff: { failuresInARow: 1, halted: null } });
  });
});
