import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';

import { Throttle } from '../../activities/azure/throttle.js';

const bounds = { firstMs: 10_000, lastMs: 60_000, longestMs: 300_000 };
let throttle: Throttle;

beforeEach(() => {
  jest.useFakeTimers({ now: 1_000_000 });
  throttle = new Throttle(bounds);
});
afterEach(() => {
  jest.useRealTimers();
});

/** How long the throttle stays closed, without the spread. */
function closedForMs(): number {
  let ms = 0;
  while (throttle.waitMs('readOperation') !== undefined) {
    jest.advanceTimersByTime(1_000);
    ms += 1_000;
  }
  return ms;
}

describe('a throttle', () => {
  it('r101: holds back all requests of the kind until the time is over, and no other kind', () => {
    throttle.close('readOperation', 120_000);
    expect(throttle.waitMs('readOperation')).toBeGreaterThanOrEqual(120_000);
    expect(throttle.waitMs('createVirtualMachine')).toBeUndefined();
    expect(closedForMs()).toBe(120_000);
  });

  it('r101: has those that it held back come again one by one', () => {
    throttle.close('readOperation', 120_000);
    jest.advanceTimersByTime(119_000);
    const waits = Array.from({ length: 20 }, () => throttle.waitMs('readOperation') ?? 0);
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(1_000);
    expect(Math.max(...waits)).toBeLessThanOrEqual(31_000);
    expect(Math.max(...waits) - Math.min(...waits)).toBeGreaterThan(5_000);
  });

  it('r100: where ARM names no time doubles its own with each refusal in a row', () => {
    const waits: number[] = [];
    for (let refusal = 1; refusal <= 5; refusal += 1) {
      throttle.close('readOperation', undefined);
      waits.push(closedForMs());
    }
    expect(waits).toEqual([10_000, 20_000, 40_000, 60_000, 60_000]);
    throttle.answered('readOperation');
    throttle.close('readOperation', undefined);
    expect(closedForMs()).toBe(10_000);
  });

  it('takes what was under way when it closed for one refusal', () => {
    for (let request = 1; request <= 20; request += 1) throttle.close('readOperation', undefined);
    expect(closedForMs()).toBe(10_000);
  });

  it('is not opened by the answer to a request that was under way', () => {
    throttle.close('readOperation', 120_000);
    throttle.answered('readOperation');
    expect(throttle.waitMs('readOperation')).toBeGreaterThanOrEqual(120_000);
  });

  it('keeps the longer of two times', () => {
    throttle.close('readOperation', 120_000);
    throttle.close('readOperation', 5_000);
    expect(closedForMs()).toBe(120_000);
  });

  it('does not believe in hours', () => {
    throttle.close('readOperation', 3_600_000);
    expect(closedForMs()).toBe(300_000);
  });
});
