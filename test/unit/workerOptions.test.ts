import { describe, expect, it } from '@jest/globals';

import { demoSettings } from '../../demo/settings.js';

describe('the timeouts of a worker', () => {
  it('are those of the design at the speed of the real world', () => {
    const { timeouts, activities } = demoSettings(1);
    expect(timeouts).toEqual({
      kubernetesRequestMs: 15_000,
      armRequestMs: 20_000,
      stickyQueueMs: 10_000,
      shutdownGraceMs: 25_000,
    });
    expect(activities.replacement.attemptTimeoutMs).toBe(30_000);
  });

  it.each([2, 10, 100])('shrink with the speed, here %d, but not below what a busy machine needs', (speed) => {
    const { timeouts, activities } = demoSettings(speed);
    for (const timeoutMs of Object.values(timeouts)) expect(timeoutMs).toBeGreaterThanOrEqual(3_000);
    expect(timeouts.armRequestMs).toBe(Math.max(3_000, 20_000 / speed));
    expect(activities.replacement.attemptTimeoutMs).toBe(Math.max(6_000, 30_000 / speed));
  });
});
