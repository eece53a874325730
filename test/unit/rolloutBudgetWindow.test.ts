import { describe, expect, it } from '@jest/globals';

import { RolloutState } from '../../workflows/rolloutState.js';
import {
  allocationFailed,
  candidateOf,
  endChild,
  observationOf,
  rolloutInput,
  rolloutSettings,
  startMs,
} from './rolloutFixture.js';

const changeMs = startMs + 3_600_000;
const waiting = [candidateOf('a')];

/** A rollout that looked at its pool at `startMs`: somebody waits for a permit, the next budget window's edge is at `changeMs`. */
function waitingRollout(): RolloutState {
  const rollout = new RolloutState(rolloutInput);
  rollout.observed(observationOf(['a', 'b'], { waiting, nextChangeMs: changeMs }), startMs);
  rollout.isQuiet(startMs);
  return rollout;
}

describe('a rollout whose candidates wait for a permit', () => {
  it('sleeps until a budget’s window opens or ends', () => {
    const rollout = waitingRollout();
    expect(rollout.sleepMs(startMs)).toBe(3_600_000);
    expect(rollout.sleepMs(changeMs - 1)).toBe(1);
  });

  it('sleeps for ever when no window ever does', () => {
    const rollout = waitingRollout();
    rollout.observed(observationOf(['a', 'b'], { waiting, nextChangeMs: null }), startMs);
    expect(rollout.sleepMs(startMs)).toBeUndefined();
  });

  it('sleeps a second when the worker’s clock has not come to the change yet: no busy loop', () => {
    const rollout = waitingRollout();
    expect(rollout.sleepMs(changeMs)).toBe(1_000);
    expect(rollout.sleepMs(changeMs + 50)).toBe(1_000);
  });

  it('wakes for whatever comes first', () => {
    const rollout = waitingRollout();
    endChild(rollout, 'b', allocationFailed, startMs);
    expect(rollout.sleepMs(startMs)).toBeLessThanOrEqual(60_000);
    expect(rollout.sleepMs(changeMs - 10)).toBe(10);
  });
});

describe('a rollout for whose permits nobody waits', () => {
  it('does not heed the windows', () => {
    const rollout = new RolloutState(rolloutInput);
    rollout.observed(observationOf(['a'], { start: waiting, nextChangeMs: startMs + 1_000 }), startMs);
    rollout.started(candidateOf('a'));
    rollout.isQuiet(startMs);
    expect(rollout.sleepMs(startMs)).toBe(rolloutSettings.lookAgainMs);
  });
});
