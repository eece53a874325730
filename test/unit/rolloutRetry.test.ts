import { describe, expect, it } from '@jest/globals';

import { RolloutState } from '../../workflows/rolloutState.js';
import { allocationFailed, candidateOf, endChild, observedRollout, rolloutInput, startMs } from './rolloutFixture.js';

describe('a retry', () => {
  function twoFailed(): RolloutState {
    const rollout = observedRollout(['a', 'b']);
    endChild(rollout, 'a', allocationFailed, startMs);
    endChild(rollout, 'b', { kind: 'stoppedByHand', code: 'Canceled' }, startMs);
    rollout.nextObservation(startMs);
    return rollout;
  }

  it('without a name is for all that failed, held ones too, and they go first', () => {
    const rollout = twoFailed();
    expect(rollout.retry({}, startMs)).toEqual({ retried: ['a', 'b'] });
    expect(rollout.isPoked).toBe(true);
    expect(rollout.nextObservation(startMs)).toMatchObject({
      first: ['uid-a', 'uid-b'],
      last: ['uid-a', 'uid-b'],
      held: [],
    });
  });

  it('by name is for that one', () => {
    const rollout = twoFailed();
    rollout.checkRetry({ nodeClaim: 'b' });
    expect(rollout.retry({ nodeClaim: 'b' }, startMs)).toEqual({ retried: ['b'] });
    expect(rollout.nextObservation(startMs)).toMatchObject({ first: ['uid-b'], held: [] });
  });

  it('of one that has not failed is refused by its name', () => {
    expect(() => {
      twoFailed().checkRetry({ nodeClaim: 'c' });
    }).toThrow('NodeClaim c has not failed in this rollout');
  });

  it('is not refused before the pool has been looked at, nor without a name', () => {
    expect(() => {
      new RolloutState(rolloutInput).checkRetry({ nodeClaim: 'c' });
      observedRollout().checkRetry({});
    }).not.toThrow();
  });

  it('with nothing to retry answers so', () => {
    expect(observedRollout().retry({}, startMs)).toEqual({ retried: [] });
  });

  it('is used up by the start', () => {
    const rollout = twoFailed();
    rollout.retry({ nodeClaim: 'a' }, startMs);
    rollout.started(candidateOf('a'));
    expect(rollout.nextObservation(startMs).first).toEqual([]);
  });
});
