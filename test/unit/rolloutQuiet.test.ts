import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';

import type { RolloutState } from '../../workflows/rolloutState.js';
import {
  allocationFailed,
  candidateOf,
  childOf,
  endChild,
  mayStart,
  observationOf,
  observedRollout,
  rolloutSettings,
  startMs,
  blockedOf,
} from './rolloutFixture.js';

const { backoffMs, quietMs, childCheckMs } = rolloutSettings;

beforeEach(() => {
  // The longest backoff that jitter gives: the whole one.
  jest.spyOn(Math, 'random').mockReturnValue(1);
});

afterEach(() => {
  jest.restoreAllMocks();
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
        rollout.nextObservation(startMs);
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
        rollout.observed(observationOf(['a'], { blocked: [blockedOf('a', 'x')] }), startMs);
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
    rollout.nextObservation(startMs);
    expect(rollout.isQuiet(startMs + quietMs + 1)).toBe(false);
    expect(rollout.isQuiet(startMs + 2 * quietMs + 1)).toBe(true);
  });
});

describe('how long a rollout sleeps', () => {
  it('is until all children are looked up, also those whose end would wake it: after a reset it may not', () => {
    const { lookAgainMs } = rolloutSettings;
    const rollout = observedRollout(['a']);
    rollout.started(candidateOf('a'));
    rollout.isQuiet(startMs);
    expect(rollout.sleepMs(startMs + 1)).toBe(lookAgainMs - 1);
    expect(rollout.nextObservation(startMs + lookAgainMs - 1).describe).toEqual([]);
    expect(rollout.nextObservation(startMs + lookAgainMs).describe).toEqual([childOf('a')]);
    rollout.observed(observationOf(['a']), startMs + lookAgainMs);
    expect(rollout.sleepMs(startMs + lookAgainMs)).toBe(lookAgainMs);
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

describe('a rollout that waits for what nobody pokes about', () => {
  const { lookAgainMs } = rolloutSettings;

  it('looks again after a while at blocked candidates', () => {
    const blocked = [blockedOf('a', 'its Node is annotated karpenter.sh/do-not-disrupt')];
    const rollout = observedRollout(['a'], { blocked });
    expect(rollout.sleepMs(startMs)).toBe(lookAgainMs);
  });

  it('looks again while a node that it does not replace holds the permit', () => {
    const rollout = observedRollout(['a'], { waiting: [candidateOf('a')], disrupted: ['not-ready'] });
    expect(rollout.sleepMs(startMs)).toBe(lookAgainMs);
  });

  it('looks again soon while other pools fill the cluster-wide cap', () => {
    const rollout = observedRollout(['a'], { waiting: [candidateOf('a')], isCapped: true });
    expect(rollout.sleepMs(startMs)).toBe(childCheckMs);
  });
});

describe('a pool that asks for nothing any more, but has soft taints to take off', () => {
  const markChanges = [{ node: 'aks-a', isWaiting: false }];
  const { lookAgainMs } = rolloutSettings;

  it('is looked at again as soon as they are off, and then is quiet', () => {
    const rollout = observedRollout([], { markChanges });
    expect(rollout.isQuiet(startMs)).toBe(false);
    rollout.marksChanged();
    expect(rollout.isPoked).toBe(true);
    rollout.nextObservation(startMs);
    rollout.observed(observationOf([]), startMs);
    rollout.isQuiet(startMs);
    expect(rollout.isQuiet(startMs + quietMs)).toBe(true);
  });

  it('is looked at again after a while when they could not be taken off', () => {
    const rollout = observedRollout([], { markChanges });
    rollout.isQuiet(startMs);
    expect(rollout.sleepMs(startMs)).toBe(lookAgainMs);
  });

  it('is not looked at for the taints of a pool that has other things to do', () => {
    const rollout = observedRollout(['a'], { waiting: [candidateOf('a')], markChanges });
    rollout.marksChanged();
    expect(rollout.isPoked).toBe(false);
  });
});
