import type { Pod, PodDisruptionBudget } from './api.js';
import { getCondition } from './conditions.js';
import { selects } from './labelSelector.js';

/**
 * Why the Eviction API would refuse this pod now, or undefined when it would not: a budget that allows nothing, or two budgets on one
 * pod, which that API never allows. A pod that is not Ready passes where the budget's unhealthyPodEvictionPolicy says AlwaysAllow.
 */
export function evictionRefusedWhy(pod: Pod, budgets: readonly PodDisruptionBudget[]): string | undefined {
  const covering = budgets.filter(
    ({ metadata, spec }) =>
      metadata.namespace === pod.metadata.namespace && selects(spec.selector, pod.metadata.labels),
  );
  const [budget] = covering;
  if (budget === undefined) return undefined;
  if (covering.length > 1) {
    const names = covering.map(({ metadata }) => metadata.name).sort();
    return `more than one PodDisruptionBudget covers it (${names.join(', ')}), which the Eviction API refuses`;
  }
  const isHealthy = getCondition(pod, 'Ready')?.status === 'True';
  if (!isHealthy && budget.spec.unhealthyPodEvictionPolicy === 'AlwaysAllow') return undefined;
  const allowed = budget.status?.disruptionsAllowed ?? 0;
  return allowed > 0
    ? undefined
    : `PodDisruptionBudget ${budget.metadata.namespace}/${budget.metadata.name} allows no disruption now`;
}
