import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';

import type { ReplacementResult } from '../../workflows/replacementTypes.js';
import type { ChildReport, InFlight } from '../../workflows/activityInterfaces.js';
import type { ChildEnd } from '../../workflows/rolloutState.js';
import { RolloutState } from '../../workflows/rolloutState.js';
import { candidateOf, observationOf, rolloutSettings } from './rolloutFixture.js';

const startMs = Date.UTC(2026, 0, 5, 12);
const input = { cluster: 'c', nodePool: 'general-purpose' };
const allocationFailed: ChildEnd = { kind: 'failed', code: 'AllocationFailed', message: 'no room' };
const { backoffMs, backoffMaxMs, haltAfterFailures, quietMs, childCheckMs } = rolloutSettings;

function childOf(nodeClaim: string): InFlight {
  return { nodeClaim, uid: `uid-${nodeClaim}` };
}

function replaced(nodeClaim: string): ReplacementResult {
  const offering = { instanceType: 'Standard_D2as_v5', zone: 'westus2-1', capacityType: 'on-demand' };
  return { kind: 'replaced', nodeClaim, replacement: `${nodeClaim}-new`, offering, launchFailures: [] };
}

/** A rollout that has looked at its pool once and found nothing to do. */
function observedRollout(nodeClaims: readonly string[] = []): RolloutState {
  const rollout = new RolloutState(input);
  rollout.observed(observationOf(nodeClaims), startMs);
  return rollout;
}

/** The rollout starts the NodeClaim's replacement, which ends like that. */
function endChild(rollout: RolloutState, nodeClaim: string, end: ChildEnd, nowMs: number): void {
  rollout.started(candidateOf(nodeClaim));
  rollout.childEnded(childOf(nodeClaim), end, nowMs);
}

/** Of two candidates, who may start at that instant. */
function mayStart(rollout: RolloutState, nowMs: number): string[] {
  const start = [candidateOf('a'), candidateOf('b')];
  return rollout.observed(observationOf(['a', 'b'], { start }), nowMs).map(({ nodeClaim }) => nodeClaim);
}

beforeEach(() => {
  // The longest backoff that jitter gives: the whole one.
  jest.spyOn(Math, 'random').mockReturnValue(1);
});

afterEach(() => {
  jest.restoreAllMocks();
});

describe('a look at the pool', () => {
  it('answers who may start now', () => {
    expect(mayStart(new RolloutState(input), startMs)).toEqual(['a', 'b']);
  });

  it('is told whose replacement is in flight, and whose end the parent would not hear of', () => {
    const rollout = observedRollout(['a', 'b']);
    rollout.started(candidateOf('a'));
    rollout.adopted(childOf('b'));
    expect(rollout.nextObservation()).toEqual({
      ...input,
      inFlight: [childOf('a'), childOf('b')],
      first: [],
      last: [],
      held: [],
      describe: [childOf('b')],
      discover: false,
    });
  });

  it('looks for children under every name when the parent is started anew, and only then', () => {
    const rollout = new RolloutState(input);
    expect(rollout.nextObservation().discover).toBe(true);
    rollout.observed(observationOf([]), startMs);
    expect(rollout.nextObservation().discover).toBe(false);
    expect(new RolloutState({ ...input, carried: rollout.carry() }).nextObservation().discover).toBe(false);
  });

  it('takes in all pokes before it, none after it', () => {
    const rollout = observedRollout();
    rollout.poke();
    rollout.poke();
    expect(rollout.isPoked).toBe(true);
    rollout.nextObservation();
    expect(rollout.isPoked).toBe(false);
    rollout.poke();
    expect(rollout.isPoked).toBe(true);
  });

  it('is needed before the settings are known', () => {
    const rollout = new RolloutState(input);
    expect(rollout.isObserved).toBe(false);
    expect(() => rollout.settings).toThrow('the pool has not been observed yet');
  });
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
    expect(rollout.carry().backoffUntilMs).toBeCloseTo(startMs + backoffMs * share, 3);
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
    expect(rollout.carry()).toMatchObject({ failuresInARow: 1, backoffUntilMs: startMs + backoffMs });
  });

  it('is not for what a person stopped', () => {
    const rollout = observedRollout(['a']);
    endChild(rollout, 'a', { kind: 'stoppedByHand', code: 'Canceled' }, startMs);
    expect(rollout.carry()).toMatchObject({ failuresInARow: 0, backoffUntilMs: 0, halted: null });
  });

  it('is not for what needed no replacement; that is no success either', () => {
    const rollout = observedRollout(['a', 'b']);
    endChild(rollout, 'a', allocationFailed, startMs);
    const why = 'it is no longer Drifted';
    endChild(rollout, 'b', { kind: 'ended', result: { kind: 'notNeeded', nodeClaim: 'b', why } }, startMs);
    expect(rollout.carry()).toMatchObject({ failuresInARow: 1, notNeeded: [{ nodeClaim: 'b', why }] });
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
      '5 replacements in a row failed; retry when the cause is gone',
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
    rollout.retry({});
    expect(rollout.status(startMs)).toMatchObject({ halted: null, backoffUntil: null });
    expect(mayStart(rollout, startMs)).toEqual(['a', 'b']);
    endChild(rollout, 'a', allocationFailed, startMs);
    expect(rollout.carry()).toMatchObject({ failuresInARow: 1, halted: null });
  });
});

describe('a failure', () => {
  it('is kept with its code, and the NodeClaim goes to the end of the line', () => {
    const rollout = observedRollout(['a']);
    endChild(rollout, 'a', allocationFailed, startMs);
    expect(rollout.result().failures).toEqual([
      {
        ...childOf('a'),
        code: 'AllocationFailed',
        message: 'no room',
        at: '2026-01-05T12:00:00.000Z',
        rounds: 1,
        held: false,
      },
    ]);
    expect(rollout.nextObservation()).toMatchObject({ first: [], last: ['uid-a'], held: [] });
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
      replaced: [{ nodeClaim: 'a', replacement: 'a-new', launchFailures: [] }],
    });
  });

  it('is forgotten when its NodeClaim is gone', () => {
    const rollout = observedRollout(['a', 'b']);
    endChild(rollout, 'a', allocationFailed, startMs);
    rollout.retry({});
    rollout.observed(observationOf(['b']), startMs);
    expect(rollout.result().failures).toEqual([]);
    expect(rollout.nextObservation().first).toEqual([]);
  });

  it.each(['Canceled', 'Terminated'] as const)('by hand (%s) waits for a person', (code) => {
    const rollout = observedRollout(['a']);
    endChild(rollout, 'a', { kind: 'stoppedByHand', code }, startMs);
    expect(rollout.result().failures).toMatchObject([{ code, message: `${code.toLowerCase()} by hand`, held: true }]);
    expect(rollout.nextObservation()).toMatchObject({ last: [], held: ['uid-a'] });
  });
});

describe('a retry', () => {
  function twoFailed(): RolloutState {
    const rollout = observedRollout(['a', 'b']);
    endChild(rollout, 'a', allocationFailed, startMs);
    endChild(rollout, 'b', { kind: 'stoppedByHand', code: 'Canceled' }, startMs);
    rollout.nextObservation();
    return rollout;
  }

  it('without a name is for all that failed, held ones too, and they go first', () => {
    const rollout = twoFailed();
    expect(rollout.retry({})).toEqual({ retried: ['a', 'b'] });
    expect(rollout.isPoked).toBe(true);
    expect(rollout.nextObservation()).toMatchObject({ first: ['uid-a', 'uid-b'], last: ['uid-a', 'uid-b'], held: [] });
  });

  it('by name is for that one', () => {
    const rollout = twoFailed();
    rollout.checkRetry({ nodeClaim: 'b' });
    expect(rollout.retry({ nodeClaim: 'b' })).toEqual({ retried: ['b'] });
    expect(rollout.nextObservation()).toMatchObject({ first: ['uid-b'], held: [] });
  });

  it('of one that has not failed is refused by its name', () => {
    expect(() => {
      twoFailed().checkRetry({ nodeClaim: 'c' });
    }).toThrow('NodeClaim c has not failed in this rollout');
  });

  it('is not refused before the pool has been looked at, nor without a name', () => {
    expect(() => {
      new RolloutState(input).checkRetry({ nodeClaim: 'c' });
      observedRollout().checkRetry({});
    }).not.toThrow();
  });

  it('with nothing to retry answers so', () => {
    expect(observedRollout().retry({})).toEqual({ retried: [] });
  });

  it('is used up by the start', () => {
    const rollout = twoFailed();
    rollout.retry({ nodeClaim: 'a' });
    rollout.started(candidateOf('a'));
    expect(rollout.nextObservation().first).toEqual([]);
  });
});

describe('children that somebody else started', () => {
  const running: ChildReport = { ...childOf('found'), status: 'running' };

  it('are adopted when found, and nobody starts in the same pass: their permits were not counted', () => {
    const rollout = new RolloutState(input);
    const observation = observationOf(['found', 'a'], { start: [candidateOf('a')], children: [running] });
    expect(rollout.observed(observation, startMs)).toEqual([]);
    expect(rollout.isPoked).toBe(true);
    expect(rollout.nextObservation()).toMatchObject({ inFlight: [childOf('found')], describe: [childOf('found')] });
  });

  it('are adopted once', () => {
    const rollout = new RolloutState(input);
    rollout.observed(observationOf(['found'], { children: [running] }), startMs);
    rollout.nextObservation();
    const again = observationOf(['found', 'a'], { start: [candidateOf('a')], children: [running] });
    expect(rollout.observed(again, startMs)).toEqual([candidateOf('a')]);
    expect(rollout.isPoked).toBe(false);
  });

  it.each<[string, Omit<ChildReport, 'nodeClaim' | 'uid'>, object]>([
    ['replaced', { status: 'completed', result: replaced('found') }, { replaced: [{ nodeClaim: 'found' }] }],
    [
      'completed with a result that cannot be read',
      { status: 'completed' },
      { notNeeded: [{ nodeClaim: 'found', why: 'its result could not be read' }] },
    ],
    [
      'failed',
      { status: 'failed', code: 'SkuNotAvailable', message: 'sold out' },
      { failures: [{ code: 'SkuNotAvailable', message: 'sold out', held: false }] },
    ],
    ['failed without a word', { status: 'failed' }, { failures: [{ code: 'Error', message: '', held: false }] }],
    ['canceled', { status: 'canceled' }, { failures: [{ code: 'Canceled', held: true }] }],
    ['terminated', { status: 'terminated' }, { failures: [{ code: 'Terminated', held: true }] }],
    ['not found any more', { status: 'notFound' }, { failures: [{ code: 'Terminated', held: true }] }],
  ])('free their permit when they are reported %s', (_, report, expected) => {
    const rollout = observedRollout(['found']);
    rollout.adopted(childOf('found'));
    rollout.observed(observationOf(['found'], { children: [{ ...childOf('found'), ...report }] }), startMs);
    expect(rollout.status(startMs).inFlight).toEqual([]);
    expect(rollout.result()).toMatchObject(expected);
    expect(rollout.isPoked).toBe(true);
  });

  it('are none of ours when they have ended unknown to us', () => {
    const rollout = observedRollout(['found']);
    const failed: ChildReport = { ...childOf('found'), status: 'failed', code: 'X' };
    rollout.observed(observationOf(['found'], { children: [failed] }), startMs);
    expect(rollout.result()).toMatchObject({ failures: [], replaced: [] });
  });
});

describe('what is carried over a continue-as-new', () => {
  it('is everything that the cluster does not show', () => {
    const rollout = observedRollout(['a', 'b', 'c', 'd']);
    endChild(rollout, 'a', allocationFailed, startMs);
    endChild(rollout, 'b', { kind: 'stoppedByHand', code: 'Canceled' }, startMs);
    endChild(rollout, 'd', { kind: 'ended', result: { kind: 'notNeeded', nodeClaim: 'd', why: 'gone' } }, startMs);
    rollout.started(candidateOf('c'));
    const next = new RolloutState({ ...input, carried: rollout.carry() });
    expect(next.carry()).toEqual(rollout.carry());
    expect(next.result()).toEqual(rollout.result());
    expect(next.nextObservation()).toMatchObject({
      inFlight: [childOf('c')],
      last: ['uid-a'],
      held: ['uid-b'],
      // The new run cannot await it: it is looked up from now on.
      describe: [childOf('c')],
    });
  });

  it('includes backoff, halt and people’s retries', () => {
    const rollout = observedRollout(['a', 'b']);
    endChild(rollout, 'b', { kind: 'stoppedByHand', code: 'Canceled' }, startMs);
    rollout.retry({});
    for (let failure = 0; failure < haltAfterFailures; failure += 1) endChild(rollout, 'a', allocationFailed, startMs);
    const next = new RolloutState({ ...input, carried: rollout.carry() });
    expect(next.nextObservation().first).toEqual(['uid-b']);
    expect(next.status(startMs)).toMatchObject({ ...rollout.status(startMs), admission: null });
    expect(mayStart(next, startMs + backoffMaxMs)).toEqual([]);
  });
});

describe('a quiet pool', () => {
  it('ends its rollout after it has asked for nothing for so long', () => {
    const rollout = observedRollout();
    expect(rollout.isQuiet(startMs)).toBe(false);
    expect(rollout.sleepMs(startMs)).toBe(quietMs);
    expect(rollout.isQuiet(startMs + quietMs - 1)).toBe(false);
    expect(rollout.sleepMs(startMs + quietMs - 1)).toBe(1);
    expect(rollout.isQuiet(startMs + quietMs)).toBe(true);
  });

  it.each<[string, (rollout: RolloutState) => void]>([
    [
      'a poke',
      (rollout) => {
        rollout.poke();
      },
    ],
    [
      'a child',
      (rollout) => {
        rollout.started(candidateOf('a'));
      },
    ],
    [
      'a failure',
      (rollout) => {
        endChild(rollout, 'a', allocationFailed, startMs);
        rollout.nextObservation();
      },
    ],
    [
      'a candidate that may start',
      (rollout) => {
        mayStart(rollout, startMs);
      },
    ],
    [
      'a candidate that waits',
      (rollout) => {
        rollout.observed(observationOf(['a'], { waiting: [candidateOf('a')] }), startMs);
      },
    ],
    [
      'a blocked candidate',
      (rollout) => {
        rollout.observed(observationOf(['a'], { blocked: [{ ...childOf('a'), why: 'x' }] }), startMs);
      },
    ],
  ])('is not quiet with %s, and the time begins anew', (_, disturb) => {
    const rollout = observedRollout(['a']);
    rollout.isQuiet(startMs);
    disturb(rollout);
    expect(rollout.isQuiet(startMs + quietMs)).toBe(false);
    expect(rollout.isQuiet(startMs + 10 * quietMs)).toBe(false);
  });

  it('has to be quiet for the whole time again after a disturbance', () => {
    const rollout = observedRollout();
    rollout.isQuiet(startMs);
    rollout.poke();
    rollout.isQuiet(startMs + quietMs);
    rollout.nextObservation();
    expect(rollout.isQuiet(startMs + quietMs + 1)).toBe(false);
    expect(rollout.isQuiet(startMs + 2 * quietMs + 1)).toBe(true);
  });
});

describe('how long a rollout sleeps', () => {
  it('is for ever while it awaits its own children: their end wakes it', () => {
    const rollout = observedRollout(['a']);
    rollout.started(candidateOf('a'));
    rollout.isQuiet(startMs);
    expect(rollout.sleepMs(startMs)).toBeUndefined();
  });

  it('is until the next look at children whose end it would not be told', () => {
    const rollout = observedRollout(['a']);
    rollout.adopted(childOf('a'));
    rollout.isQuiet(startMs);
    expect(rollout.sleepMs(startMs)).toBe(childCheckMs);
  });

  it('is until the end of the backoff, in whole or in rest', () => {
    const rollout = observedRollout(['a']);
    endChild(rollout, 'a', allocationFailed, startMs);
    rollout.isQuiet(startMs);
    expect(rollout.sleepMs(startMs)).toBe(backoffMs);
    expect(rollout.sleepMs(startMs + backoffMs - 10)).toBe(10);
    expect(rollout.sleepMs(startMs + backoffMs)).toBeUndefined();
  });

  it('is until whatever comes first', () => {
    const rollout = observedRollout(['a', 'b']);
    endChild(rollout, 'a', allocationFailed, startMs);
    rollout.adopted(childOf('b'));
    expect(rollout.sleepMs(startMs)).toBe(childCheckMs);
    expect(rollout.sleepMs(startMs + backoffMs - 10)).toBe(10);
  });
});
