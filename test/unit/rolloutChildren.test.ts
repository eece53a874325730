import { describe, expect, it } from '@jest/globals';

import type { ChildReport } from '../../workflows/activityInterfaces.js';
import { RolloutState } from '../../workflows/rolloutState.js';
import {
  candidateOf,
  childOf,
  observationOf,
  observedRollout,
  replaced,
  rolloutInput,
  startMs,
} from './rolloutFixture.js';

describe('children that somebody else started', () => {
  const running: ChildReport = { ...childOf('found'), status: 'running' };

  it('are adopted when found, and nobody starts in the same pass: their permits were not counted', () => {
    const rollout = new RolloutState(rolloutInput);
    const observation = observationOf(['found', 'a'], { start: [candidateOf('a')], children: [running] });
    expect(rollout.observed(observation, startMs)).toEqual([]);
    expect(rollout.isPoked).toBe(true);
    expect(rollout.nextObservation(startMs)).toMatchObject({
      inFlight: ['found'],
      describe: [childOf('found')],
    });
  });

  it('are adopted once', () => {
    const rollout = new RolloutState(rolloutInput);
    rollout.observed(observationOf(['found'], { children: [running] }), startMs);
    rollout.nextObservation(startMs);
    const again = observationOf(['found', 'a'], { start: [candidateOf('a')], children: [running] });
    expect(rollout.observed(again, startMs)).toEqual([candidateOf('a')]);
    expect(rollout.isPoked).toBe(false);
  });

  it('are told of as stuck as long as they are reported so', () => {
    const rollout = observedRollout(['found']);
    rollout.adopted(childOf('found'));
    const look = (stuck?: string): void => {
      const report: ChildReport = { ...running, ...(stuck === undefined ? {} : { stuck }) };
      rollout.observed(observationOf(['found'], { children: [report] }), startMs);
    };
    look('it fails');
    expect(rollout.status(startMs)).toMatchObject({
      inFlight: ['found'],
      stuck: [{ nodeClaim: 'found', why: 'it fails' }],
    });
    look();
    expect(rollout.status(startMs)).not.toHaveProperty('stuck');
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

describe('a child that the rollout awaits', () => {
  it('counts once when its end is looked up before it is told, and a later one of the same NodeClaim on its own', () => {
    const rollout = observedRollout(['a']);
    const first = rollout.started(candidateOf('a'));
    const failed: ChildReport = { ...childOf('a'), status: 'failed', code: 'X' };
    rollout.observed(observationOf(['a'], { children: [failed] }), startMs);
    rollout.awaitedEnded(first, { kind: 'failed', code: 'X', message: '' }, startMs);
    expect(rollout.rounds('uid-a')).toBe(1);

    const second = rollout.started(candidateOf('a'));
    rollout.awaitedEnded(first, { kind: 'failed', code: 'X', message: '' }, startMs);
    expect(rollout.status(startMs).inFlight).toEqual(['a']);
    rollout.awaitedEnded(second, { kind: 'ended', result: replaced('a') }, startMs);
    expect(rollout.result()).toMatchObject({ replaced: [{ nodeClaim: 'a' }], failures: [] });
  });
});
