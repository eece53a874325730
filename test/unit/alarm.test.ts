import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';

import { Alarm } from '../../client/watcher/alarm.js';

const startMs = Date.UTC(2026, 0, 5, 12);
const dayMs = 24 * 3_600_000;

let rung: string[];
let alarm: Alarm;

beforeEach(() => {
  jest.useFakeTimers({ now: startMs });
  rung = [];
  alarm = new Alarm((key) => rung.push(key));
});

afterEach(() => {
  alarm.stop();
  jest.useRealTimers();
});

describe('an alarm', () => {
  it('rings for each key at its instant, once, not before', () => {
    alarm.set('late', startMs + 2_000);
    alarm.set('early', startMs + 1_000);
    jest.advanceTimersByTime(999);
    expect(rung).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(rung).toEqual(['early']);
    jest.advanceTimersByTime(1_000);
    expect(rung).toEqual(['early', 'late']);
    jest.advanceTimersByTime(dayMs);
    expect(rung).toEqual(['early', 'late']);
  });

  it('rings for all whose instant is the same', () => {
    for (const key of ['a', 'b', 'c']) alarm.set(key, startMs + 1_000);
    jest.advanceTimersByTime(1_000);
    expect(rung).toEqual(['a', 'b', 'c']);
  });

  it.each<[string, number | undefined, number]>([
    ['an earlier one', startMs + 1_000, 1_000],
    ['a later one', startMs + 9_000, 9_000],
  ])('goes by the last instant that a key was given: %s', (_, dueMs, ringsAfterMs) => {
    alarm.set('a', startMs + 5_000);
    alarm.set('a', dueMs);
    jest.advanceTimersByTime(ringsAfterMs - 1);
    expect(rung).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(rung).toEqual(['a']);
    jest.advanceTimersByTime(dayMs);
    expect(rung).toEqual(['a']);
  });

  it.each<[string, number | undefined]>([
    ['an instant that has passed', startMs - 1],
    ['this very instant', startMs],
    ['never', undefined],
  ])('does not ring for %s, which takes the earlier instant away', (_, dueMs) => {
    alarm.set('a', startMs + 1_000);
    alarm.set('a', dueMs);
    jest.advanceTimersByTime(dayMs);
    expect(rung).toEqual([]);
  });

  it('does not ring for a key that was taken away, and rings for the others', () => {
    alarm.set('a', startMs + 1_000);
    alarm.set('b', startMs + 2_000);
    alarm.delete('a');
    jest.advanceTimersByTime(2_000);
    expect(rung).toEqual(['b']);
  });

  it('waits longer than a timer of Node.js can', () => {
    alarm.set('a', startMs + 60 * dayMs);
    jest.advanceTimersByTime(60 * dayMs - 1);
    expect(rung).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(rung).toEqual(['a']);
  });

  it('does not ring when it has been stopped', () => {
    alarm.set('a', startMs + 1_000);
    alarm.stop();
    jest.advanceTimersByTime(dayMs);
    expect(rung).toEqual([]);
    expect(jest.getTimerCount()).toBe(0);
  });
});
