import type { RolloutStatus } from './messages.js';

/** So many of what people did are told. */
const maxInterventions = 10;

/** The pool and what became of its nodes, in numbers. */
export function rolloutNumbers(status: RolloutStatus): string {
  const { nodes, disrupted, allowances } = status.admission ?? { nodes: 0, disrupted: 0, allowances: [] };
  const budget = allowances
    .map(({ reason, allowed, bindingBudget }) =>
      allowed === null ? `${reason} unbounded` : `${reason} ${allowed} (#${String(bindingBudget)})`,
    )
    .join(', ');
  return (
    `${nodes} nodes, ${disrupted} disrupted, budget ${budget}. ` +
    `${status.replaced.length} replaced, ${status.inFlight.length} in flight, ${status.failures.length} failed.`
  );
}

/** What people did to the rollout, a line each, the latest first. */
export function interventionTexts({ interventions }: RolloutStatus): readonly string[] {
  return [...interventions]
    .reverse()
    .slice(0, maxInterventions)
    .map(
      ({ what, by, why, at, nodeClaim }) =>
        `${at} ${what}${nodeClaim === null ? '' : ` ${nodeClaim}`} by ${by}: ${why}`,
    );
}
