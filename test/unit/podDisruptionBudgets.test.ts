import { describe, expect, it } from '@jest/globals';

import { evictionRefusedWhy } from '../../karpenter/podDisruptionBudgets.js';
import type { BudgetShape, PodShape } from './podFixture.js';
import { podDisruptionBudgetOf, podOf } from './podFixture.js';

const labels = { app: 'web' };
const refusal = 'PodDisruptionBudget default/budget allows no disruption now';

describe('an eviction under one PodDisruptionBudget', () => {
  it.each<[string, PodShape, BudgetShape, string | undefined]>([
    ['is refused when none is allowed', {}, {}, refusal],
    ['is not when one is', {}, { disruptionsAllowed: 1 }, undefined],
    ['is refused when less than none is', {}, { disruptionsAllowed: -1 }, refusal],
    ['is not by one of another namespace', {}, { namespace: 'other' }, undefined],
    ['is not by one for other pods', {}, { selector: { matchLabels: { app: 'api' } } }, undefined],
    ['is refused to a pod that is not ready, too', { isReady: false }, {}, refusal],
    ['is not for one that is not ready under AlwaysAllow', { isReady: false }, { policy: 'AlwaysAllow' }, undefined],
    ['is refused to a ready pod under AlwaysAllow', {}, { policy: 'AlwaysAllow' }, refusal],
    [
      'is not for one that is not ready where enough are healthy',
      { isReady: false },
      { policy: 'IfHealthyBudget', currentHealthy: 2, desiredHealthy: 2 },
      undefined,
    ],
    [
      'is not for one that is not ready where enough are healthy, by default',
      { isReady: false },
      { currentHealthy: 2, desiredHealthy: 2 },
      undefined,
    ],
    ['is refused to a ready pod where enough are healthy', {}, { currentHealthy: 2, desiredHealthy: 2 }, refusal],
    [
      'is refused to one that is not ready where none has to be healthy',
      { isReady: false },
      { currentHealthy: 0, desiredHealthy: 0 },
      refusal,
    ],
    ['is not for a pending pod', { phase: 'Pending' }, {}, undefined],
    ['is not for a pod that has ended', { phase: 'Failed' }, {}, undefined],
    ['is not for a pod that is being deleted', { isTerminating: true }, {}, undefined],
  ])('%s', (_, pod, budget, expected) => {
    expect(evictionRefusedWhy(podOf('a', { labels, ...pod }), [podDisruptionBudgetOf('budget', budget)])).toBe(
      expected,
    );
  });

  it('is refused to everything that a budget without a status covers: nobody has counted yet', () => {
    const { metadata, spec } = podDisruptionBudgetOf('budget');
    expect(evictionRefusedWhy(podOf('a', { isReady: false }), [{ metadata, spec }])).toBe(refusal);
  });

  it('is not where nothing selects: a budget without a selector covers nothing', () => {
    const budget = podDisruptionBudgetOf('budget');
    expect(evictionRefusedWhy(podOf('a'), [{ ...budget, spec: {} }])).toBeUndefined();
    expect(evictionRefusedWhy(podOf('a'), [])).toBeUndefined();
  });
});

describe('an eviction under two PodDisruptionBudgets', () => {
  const generous = { disruptionsAllowed: 9 };

  it('is always refused, with the names of both', () => {
    const budgets = [podDisruptionBudgetOf('b', generous), podDisruptionBudgetOf('a', generous)];
    expect(evictionRefusedWhy(podOf('a'), budgets)).toBe(
      'more than one PodDisruptionBudget covers it (a, b), which the Eviction API refuses',
    );
    expect(evictionRefusedWhy(podOf('a', { isReady: false }), budgets)).toMatch(/^more than one/);
  });

  it('is not of which one is for other pods or another namespace', () => {
    const others = [
      podDisruptionBudgetOf('other-pods', { selector: { matchLabels: { app: 'api' } } }),
      podDisruptionBudgetOf('other-namespace', { namespace: 'other' }),
    ];
    expect(
      evictionRefusedWhy(podOf('a', { labels }), [...others, podDisruptionBudgetOf('a', generous)]),
    ).toBeUndefined();
  });

  it('does not matter to a pending pod', () => {
    const budgets = [podDisruptionBudgetOf('b'), podDisruptionBudgetOf('a')];
    expect(evictionRefusedWhy(podOf('a', { phase: 'Pending' }), budgets)).toBeUndefined();
  });
});
