import { isTrue, withCondition } from '../../karpenter/conditions.js';
import type { CountOrPercent, Pod, PodDisruptionBudget } from './objects.js';
import { isTerminating } from './objects.js';

/** Real time, as the API server writes it into disruptedPods: how long an evicted pod may take to be seen terminating. */
export const disruptionTimeoutMs = 120_000;

export interface BudgetFacts {
  /** The pods that the budget selects. */
  readonly pods: readonly Pod[];
  /** The replicas that the controllers of these pods want, together: asked for only when the budget depends on it. */
  readonly expectedScale: () => number;
  readonly nowMs: number;
}

type Status = NonNullable<PodDisruptionBudget['status']>;

/**
 * A count as it is, a percentage of the total rounded up.
 * @throws when it is neither
 */
function scaled(value: CountOrPercent, total: number): number {
  if (typeof value === 'number') return value;
  const percent = /^(\d+)%$/.exec(value)?.[1];
  if (percent === undefined) throw new Error(`invalid value for IntOrString: "${value}" is not a percentage`);
  return Math.ceil((Number(percent) * total) / 100);
}

function expectation(
  { minAvailable, maxUnavailable }: PodDisruptionBudget['spec'],
  { pods, expectedScale }: BudgetFacts,
): { readonly expectedPods: number; readonly desiredHealthy: number } {
  if (maxUnavailable !== undefined) {
    const expectedPods = expectedScale();
    return { expectedPods, desiredHealthy: Math.max(0, expectedPods - scaled(maxUnavailable, expectedPods)) };
  }
  if (typeof minAvailable === 'number') return { expectedPods: pods.length, desiredHealthy: minAvailable };
  if (minAvailable === undefined) return { expectedPods: pods.length, desiredHealthy: 0 };
  const expectedPods = expectedScale();
  return { expectedPods, desiredHealthy: scaled(minAvailable, expectedPods) };
}

/** The evicted pods that are not terminating yet, as far as the informer knows, and that may still become so. */
function stillDisrupted(budget: PodDisruptionBudget, { pods, nowMs }: BudgetFacts): Readonly<Record<string, string>> {
  const disrupted = budget.status?.disruptedPods ?? {};
  return Object.fromEntries(
    pods.flatMap((pod) => {
      const at = disrupted[pod.metadata.name];
      const counts = at !== undefined && !isTerminating(pod) && Date.parse(at) + disruptionTimeoutMs >= nowMs;
      return counts ? [[pod.metadata.name, at]] : [];
    }),
  );
}

function withDisruptionAllowed(
  budget: PodDisruptionBudget,
  condition: { readonly allowed: boolean; readonly reason: string; readonly message: string },
  at: string,
): Status['conditions'] {
  const conditions = withCondition(
    budget.status?.conditions ?? [],
    {
      type: 'DisruptionAllowed',
      status: condition.allowed ? 'True' : 'False',
      reason: condition.reason,
      message: condition.message,
      observedGeneration: budget.metadata.generation,
    },
    at,
  );
  return [...conditions];
}

/**
 * The status of a PodDisruptionBudget, computed and rounded as the disruption controller of Kubernetes does it.
 * @throws when minAvailable or maxUnavailable cannot be read
 */
export function disruptionStatus(budget: PodDisruptionBudget, facts: BudgetFacts, at: string): Required<Status> {
  const { expectedPods, desiredHealthy } = expectation(budget.spec, facts);
  const disruptedPods = stillDisrupted(budget, facts);
  const currentHealthy = facts.pods.filter(
    (pod) => !isTerminating(pod) && disruptedPods[pod.metadata.name] === undefined && isTrue(pod, 'Ready'),
  ).length;
  const disruptionsAllowed = expectedPods > 0 ? Math.max(0, currentHealthy - desiredHealthy) : 0;
  const allowed = disruptionsAllowed > 0;
  const reason = allowed ? 'SufficientPods' : 'InsufficientPods';
  return {
    observedGeneration: budget.metadata.generation ?? 0,
    expectedPods,
    currentHealthy,
    desiredHealthy,
    disruptionsAllowed,
    disruptedPods,
    conditions: withDisruptionAllowed(budget, { allowed, reason, message: '' }, at) ?? [],
  };
}

/** What stands in the status when it cannot be computed: nothing may be evicted. */
export function failedStatus(budget: PodDisruptionBudget, message: string, at: string): Status {
  return {
    disruptionsAllowed: 0,
    conditions: withDisruptionAllowed(budget, { allowed: false, reason: 'SyncFailed', message }, at),
  };
}
