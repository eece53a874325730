import { describe, expect, it } from '@jest/globals';

import { RolloutInterventions } from '../../workflows/rolloutInterventions.js';
import { RolloutState } from '../../workflows/rolloutState.js';
import {
  allocationFailed,
  candidateOf,
  childOf,
  endChild,
  mayStart,
  observationOf,
  observedRollout,
  rolloutInput,
  startMs,
} from './rolloutFixture.js';

const ana = { by: 'ana', why: 'a reason' };
const hourMs = 3_600_000;
const untilMs = startMs + hourMs;
const skipOfA = { ...ana, nodeClaim: 'a', until: new Date(untilMs).toISOString() };

describe('a pause', () => {
  it('keeps everybody from starting, until it is resumed', () => {
    const rollout = observedRollout(['a', 'b']);
    rollout.pause(ana, startMs);
    expect(mayStart(rollout, startMs + 100 * hourMs)).toEqual([]);
    rollout.resume(ana, startMs);
    expect(mayStart(rollout, startMs)).toEqual(['a', 'b']);
  });

  it('keeps a quiet rollout from ending, and has it sleep for ever', () => {
    const rollout = observedRollout();
    rollout.pause(ana, startMs);
    rollout.nextObservation(startMs);
    expect(rollout.isQuiet(startMs)).toBe(false);
    expect(rollout.isQuiet(startMs + 100 * hourMs)).toBe(false);
    expect(rollout.sleepMs(startMs)).toBeUndefined();
  });

  it('is not ended by a retry', () => {
    const rollout = observedRollout(['a', 'b']);
    rollout.pause(ana, startMs);
    rollout.retry({}, startMs);
    expect(mayStart(rollout, startMs)).toEqual([]);
  });

  it('has to be there for a resume', () => {
    expect(() => {
      observedRollout().checkResume();
    }).toThrow('the rollout of NodePool general-purpose is not paused');
  });
});

describe('a skip', () => {
  it('takes its NodeClaim out of the line until its end, and wakes the rollout then', () => {
    const rollout = observedRollout(['a', 'b']);
    rollout.skip(childOf('a'), skipOfA, startMs);
    expect(rollout.nextObservation(startMs)).toMatchObject({ held: ['uid-a'] });
    expect(rollout.sleepMs(startMs)).toBe(hourMs);
    expect(rollout.nextObservation(untilMs - 1)).toMatchObject({ held: ['uid-a'] });
    expect(rollout.nextObservation(untilMs)).toMatchObject({ held: [] });
    expect(rollout.status(untilMs).skipped).toEqual([]);
  });

  it('keeps a quiet rollout from ending', () => {
    const rollout = observedRollout(['a']);
    rollout.skip(childOf('a'), skipOfA, startMs);
    rollout.nextObservation(startMs);
    rollout.isQuiet(startMs);
    expect(rollout.isQuiet(startMs + hourMs - 1)).toBe(false);
  });

  it('is kept when its drift clears, forgotten when its NodeClaim is gone', () => {
    const rollout = observedRollout(['a']);
    rollout.skip(childOf('a'), skipOfA, startMs);
    rollout.observed(observationOf([], { atPeace: ['a'] }), startMs);
    expect(rollout.status(startMs).skipped).toMatchObject([{ nodeClaim: 'a' }]);
    rollout.observed(observationOf([]), startMs);
    expect(rollout.status(startMs).skipped).toEqual([]);
  });

  it('holds its NodeClaim while it is being looked up, and no other', () => {
    const rollout = observedRollout(['a', 'b']);
    rollout.beginSkip('a');
    expect(mayStart(rollout, startMs)).toEqual(['b']);
    rollout.nextObservation(startMs);
    rollout.endSkip('a');
    expect(rollout.isPoked).toBe(true);
    expect(mayStart(rollout, startMs)).toEqual(['a', 'b']);
  });

  it('is refused for what is under way, also when somebody else has started it meanwhile', () => {
    const rollout = observedRollout(['a']);
    rollout.beginSkip('a');
    rollout.adopted(childOf('a'));
    expect(() => rollout.skip(childOf('a'), skipOfA, startMs)).toThrow('cancel its replacement instead');
    expect(() => {
      rollout.checkSkip('a');
    }).toThrow('NodeClaim a is being replaced: cancel its replacement instead');
  });

  it('is ended by a retry, of its name or of all', () => {
    for (const request of [{}, { nodeClaim: 'a' }]) {
      const rollout = observedRollout(['a']);
      rollout.skip(childOf('a'), skipOfA, startMs);
      rollout.checkRetry(request);
      expect(rollout.retry(request, startMs)).toEqual({ retried: ['a'] });
      expect(rollout.nextObservation(startMs)).toMatchObject({ held: [], first: ['uid-a'] });
    }
  });

  it('of what has failed is one retry, not two', () => {
    const rollout = observedRollout(['a']);
    endChild(rollout, 'a', allocationFailed, startMs);
    rollout.skip(childOf('a'), skipOfA, startMs);
    expect(rollout.retry({}, startMs)).toEqual({ retried: ['a'] });
  });
});

describe('a cancel', () => {
  it('is for what is under way', () => {
    const rollout = observedRollout(['a', 'b']);
    rollout.started(candidateOf('a'));
    expect(rollout.cancelable(ana, startMs)).toEqual([childOf('a')]);
    expect(rollout.cancelable({ ...ana, nodeClaim: 'a' }, startMs)).toEqual([childOf('a')]);
    expect(() => {
      rollout.checkCancel({ ...ana, nodeClaim: 'b' });
    }).toThrow('NodeClaim b is not being replaced');
  });

  it('is checked only once the pool has been seen: its children may not be known yet', () => {
    expect(() => {
      new RolloutState(rolloutInput).checkCancel({ ...ana, nodeClaim: 'b' });
    }).not.toThrow();
  });
});

describe('a retry', () => {
  it('is refused for what is under way again, and leaves it where it is', () => {
    const rollout = observedRollout(['a']);
    endChild(rollout, 'a', allocationFailed, startMs);
    rollout.started(candidateOf('a'));
    expect(() => {
      rollout.checkRetry({ nodeClaim: 'a' });
    }).toThrow('NodeClaim a is being replaced already');
    expect(rollout.retry({}, startMs)).toEqual({ retried: [] });
    expect(rollout.nextObservation(startMs).first).toEqual([]);
  });
});

describe('the record of what people did', () => {
  it('tells who, what, when, about whom and why, and is carried over a continue-as-new', () => {
    const rollout = observedRollout(['a', 'b']);
    rollout.pause(ana, startMs);
    rollout.skip(childOf('a'), skipOfA, startMs + 1);
    rollout.retry({ nodeClaim: 'b' }, startMs + 2);
    rollout.cancelable(ana, startMs + 3);
    const next = new RolloutState({ ...rolloutInput, carried: rollout.carry() });
    expect(next.result().interventions).toEqual([
      { ...ana, what: 'pause', at: '2026-01-05T12:00:00.000Z', nodeClaim: null },
      { ...ana, what: 'skip', at: '2026-01-05T12:00:00.001Z', nodeClaim: 'a' },
      { by: 'unknown', why: 'not given', what: 'retry', at: '2026-01-05T12:00:00.002Z', nodeClaim: 'b' },
      { ...ana, what: 'cancel', at: '2026-01-05T12:00:00.003Z', nodeClaim: null },
    ]);
    expect(next.status(startMs)).toMatchObject({
      paused: { ...ana, since: '2026-01-05T12:00:00.000Z' },
      skipped: [{ ...skipOfA, uid: 'uid-a' }],
    });
    expect(mayStart(next, startMs)).toEqual([]);
  });

  it('keeps the latest fifty', () => {
    const interventions = new RolloutInterventions(undefined);
    for (let count = 0; count < 60; count += 1) interventions.cancel(`n-${count}`, ana, startMs);
    expect(interventions.log).toHaveLength(50);
    expect(interventions.log.at(-1)?.nodeClaim).toBe('n-59');
  });
});
