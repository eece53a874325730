import { describe, expect, it } from '@jest/globals';

import { drawPlan } from './plan.js';

const plans = Array.from({ length: 200 }, (_, index) => drawPlan(index + 1));

describe('a plan', () => {
  it('is the same for the same seed, and another for the next one', () => {
    expect(drawPlan(7)).toEqual(drawPlan(7));
    expect(new Set(plans.map((plan) => JSON.stringify({ ...plan, seed: 0 }))).size).toBe(plans.length);
  });

  it('keeps within its bounds', () => {
    for (const { nodes, kills, arm, kubernetes, maxUnavailable } of plans) {
      expect(nodes).toBeGreaterThanOrEqual(20);
      expect(nodes).toBeLessThanOrEqual(100);
      expect(kills.length).toBeGreaterThanOrEqual(1);
      expect(kills.length).toBeLessThanOrEqual(4);
      expect(new Set(arm.map(({ kind }) => kind)).size).toBe(arm.length);
      expect(kubernetes.length).toBeGreaterThanOrEqual(1);
      expect(maxUnavailable).toBeGreaterThanOrEqual(2);
    }
  });

  it('draws small and large rollouts, kills of workers and of the watcher, with and without a restart of Temporal', () => {
    expect(plans.some(({ nodes }) => nodes > 60)).toBe(true);
    expect(plans.some(({ nodes }) => nodes < 25)).toBe(true);
    const services = new Set(plans.flatMap(({ kills }) => kills.map(({ service }) => service)));
    expect([...services].sort()).toEqual(['watcher', 'worker-1', 'worker-2']);
    expect(new Set(plans.map(({ temporalRestart }) => temporalRestart === undefined)).size).toBe(2);
  });
});
