import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';

import { RolloutState } from '../../workflows/rolloutState.js';
import {
  allocationFailed,
  candidateOf,
  childOf,
  endChild,
  mayStart,
  observationOf,
  observedRollout,
  replaced,
  rolloutInput,
  rolloutSettings,
  startMs,
} from './rolloutFixture.js';

const { backoffMaxMs, haltAfterFailures } = rolloutSettings;

beforeEach(() => {
  // The longest backoff that jitter gives: the whole one.
  jest.spyOn(Math, 'random').mockReturnValue(1);
});

afterEach(() => {
  jest.restoreAllMocks();
});

describe('a look at the pool', () => {
  it('answers who may start now', () => {
    expect(mayStart(new RolloutState(rolloutInput), startMs)).toEqual(['a', 'b']);
  });

  it('is told whose replacement is in flight, and whose end the parent would not hear of', () => {
    const rollout = observedRollout(['a', 'b']);
    rollout.started(candidateOf('a'));
    rollout.adopted(childOf('b'));
    expect(rollout.nextObservation(startMs)).toEqual({
      ...rolloutInput,
      inFlight: ['a', 'b'],
      first: [],
      last: [],
      held: [],
      describe: [childOf('b')],
      discover: false,
    });
  });

  it('looks for children under every name when the parent is started anew, and only then', () => {
    const rollout = new RolloutState(rolloutInput);
    expect(rollout.nextObservation(startMs).discover).toBe(true);
    rollout.observed(observationOf([]), startMs);
    expect(rollout.nextObservation(startMs).discover).toBe(false);
    expect(new RolloutState({ ...rolloutInput, carried: rollout.carry() }).nextObservation(startMs).discover).toBe(
      false,
    );
  });

  it('takes in all pokes before it, none after it', () => {
    const rollout = observedRollout();
    rollout.poke();
    rollout.poke();
    expect(rollout.isPoked).toBe(true);
    rollout.nextObservation(startMs);
    expect(rollout.isPoked).toBe(false);
    rollout.poke();
    expect(rollout.isPoked).toBe(true);
  });

  it('is needed before the settings are known', () => {
    const rollout = new RolloutState(rolloutInput);
    expect(rollout.isObserved).toBe(false);
    expect(() => rollout.settings).toThrow('the pool has not been observed yet');
  });
});

describe('a failure', () => {
  it('is kept with its code, and the NodeClaim goes to the end of the line', () => {
    const rollout = observedRollout(['a']);
    endChild(rollout, 'a', allocationFailed, startMs);
    expect(rollout.result().failures).toEqual([
      {
        ...childOf('a'),
        reason: 'Drifted',
        reasonDetail: 'ImageDrift',
        code: 'AllocationFailed',
        message: 'no room',
        at: '2026-01-05T12:00:00.000Z',
        rounds: 1,
        held: false,
      },
    ]);
    expect(rollout.nextObservation(startMs)).toMatchObject({ first: [], last: ['uid-a'], held: [] });
  });

  it('counts the rounds, so that the next one creates something else', () => {
    const rollout = observedRollout(['a']);
    expect(rollout.rounds('uid-a')).toBe(0);
    endChild(rollout, 'a', allocationFailed, startMs);
    endChild(rollout, 'a', { kind: 'stoppedByHand', code: 'Terminated' }, startMs);
    expect(rollout.rounds('uid-a')).toBe(2);
  });

  it('is forgotten when its NodeClaim is replaced after all', () => {
    const rollout = observedRollout(['a']);
    endChild(rollout, 'a', allocationFailed, startMs);
    endChild(rollout, 'a', { kind: 'ended', result: replaced('a') }, startMs);
    expect(rollout.result()).toMatchObject({
      failures: [],
      replaced: [
        { nodeClaim: 'a', replacement: 'a-new', reason: 'Drifted', reasonDetail: 'ImageDrift', launchFailures: [] },
      ],
    });
  });

  it('is forgotten when its NodeClaim is gone', () => {
    const rollout = observedRollout(['a', 'b']);
    endChild(rollout, 'a', allocationFailed, startMs);
    rollout.retry({}, startMs);
    rollout.observed(observationOf(['b']), startMs);
    expect(rollout.result().failures).toEqual([]);
    expect(rollout.nextObservation(startMs).first).toEqual([]);
  });

  it.each(['Canceled', 'Terminated'] as const)('by hand (%s) waits for a person', (code) => {
    const rollout = observedRollout(['a']);
    endChild(rollout, 'a', { kind: 'stoppedByHand', code }, startMs);
    expect(rollout.result().failures).toMatchObject([{ code, message: `${code.toLowerCase()} by hand`, held: true }]);
    expect(rollout.nextObservation(startMs)).toMatchObject({ last: [], held: ['uid-a'] });
  });
});

describe('what is carried over a continue-as-new', () => {
  it('is everything that the cluster does not show', () => {
    const rollout = observedRollout(['a', 'b', 'c', 'd']);
    endChild(rollout, 'a', allocationFailed, startMs);
    endChild(rollout, 'b', { kind: 'stoppedByHand', code: 'Canceled' }, startMs);
    endChild(rollout, 'd', { kind: 'ended', result: { kind: 'notNeeded', nodeClaim: 'd', why: 'gone' } }, startMs);
    rollout.started(candidateOf('c'));
    const next = new RolloutState({ ...rolloutInput, carried: rollout.carry() });
    expect(next.carry()).toEqual(rollout.carry());
    expect(next.result()).toEqual(rollout.result());
    expect(next.nextObservation(startMs)).toMatchObject({
      inFlight: ['c'],
      last: ['uid-a'],
      held: ['uid-b'],
      // The new run cannot await it: it is looked up from now on.
      describe: [childOf('c')],
    });
  });

  it('includes backoff, halt and people’s retries', () => {
    const rollout = observedRollout(['a', 'b']);
    endChild(rollout, 'b', { kind: 'stoppedByHand', code: 'Canceled' }, startMs);
    rollout.retry({}, startMs);
    for (let failure = 0; failure < haltAfterFailures; failure += 1) endChild(rollout, 'a', allocationFailed, startMs);
    const next = new RolloutState({ ...rolloutInput, carried: rollout.carry() });
    expect(next.nextObservation(startMs).first).toEqual(['uid-b']);
    expect(next.status(startMs)).toMatchObject({ ...rollout.status(startMs), admission: null });
    expect(mayStart(next, startMs + backoffMaxMs)).toEqual([]);
  });
});
