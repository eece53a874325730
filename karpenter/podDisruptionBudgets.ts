import type { Pod, PodDisruptionBudget } from './api.js';
import { isTrue } from './conditions.js';
import { selects } from './labelSelector.js';
import { isTerminal, isTerminating } from './pods.js';

/** As many pods are healthy as have to be: one that is not may go. */
export function hasEnoughHealthy({ status }: PodDisruptionBudget): boolean {
  const desired = status?.desiredHealthy ?? 0;
  return desired > 0 && (status?.currentHealthy ?? 0) >= desired;
}

/** What is not healthy does not count for the budget: it may go without using it up. */
function isFreeToGo(pod: Pod, budget: PodDisruptionBudget): boolean {
  if (isTrue(pod, 'Ready')) return false;
  return budget.spec.unhealthyPodEvictionPolicy === 'AlwaysAllow' || hasEnoughHealthy(budget);
}

/**
 * Why the Eviction API would refuse this pod now, or undefined when it would not (kube-apiserver, registry/core/pod/storage/eviction.go):
 * a budget that allows nothing, or two budgets on one pod, which that API never allows. Pending, ended and terminating pods obey none.
 */
export function evictionRefusedWhy(pod: Pod, budgets: readonly PodDisruptionBudget[]): string | undefined {
  if (pod.status?.phase === 'Pending' || isTerminal(pod) || isTerminating(pod)) return undefined;
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
  return isFreeToGo(pod, budget) || (budget.status?.disruptionsAllowed ?? 0) > 0
    ? undefined
    : `PodDisruptionBudget ${budget.metadata.namespace}/${budget.metadata.name} allows no disruption now`;
}
