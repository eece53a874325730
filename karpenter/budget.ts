import type { Budget } from './api.js';

/** A budget that cannot be read. It closes its whole pool, as in Karpenter. */
export interface BudgetError {
  readonly index: number;
  readonly field: 'nodes' | 'schedule';
  readonly text: string;
  readonly message: string;
}

/** How many nodes may be disrupted at once for one reason; `allowed: null` means that nothing bounds it. */
export interface Allowance {
  readonly allowed: number | null;
  /** Index of the budget that sets the bound. */
  readonly bindingBudget: number | null;
  readonly errors: readonly BudgetError[];
}

/** What Karpenter assumes when a NodePool names no budgets. */
export const defaultBudgets: readonly Budget[] = [{ nodes: '10%' }];

const maxInt64 = 2n ** 63n - 1n;

function isReadable(nodesText: string): boolean {
  return /^\d+%?$/.test(nodesText) && BigInt(nodesText.replace('%', '')) <= maxInt64;
}

function budgetError(budget: Budget, index: number): BudgetError | undefined {
  if (budget.schedule !== undefined || budget.duration !== undefined) {
    const text = budget.schedule ?? `duration ${String(budget.duration)}`;
    return { index, field: 'schedule', text, message: 'budgets with a schedule are not supported yet' };
  }
  if (!isReadable(budget.nodes)) {
    return {
      index,
      field: 'nodes',
      text: budget.nodes,
      message: 'must be a whole number such as "5" or a percentage such as "10%"',
    };
  }
  return undefined;
}

function scaled(nodesText: string, nodes: number): number {
  // Karpenter keeps the low 32 bits of a plain number (intstr.FromInt): two to the 32 closes the pool there, so here too.
  if (!nodesText.endsWith('%')) return Math.max(0, Number(BigInt.asIntN(32, BigInt(nodesText))));
  return Math.ceil((Number(nodesText.slice(0, -1)) * nodes) / 100);
}

/**
 * The minimum over the budgets that match the reason, as Karpenter v1 computes it (pkg/apis/v1/nodepool.go): a percentage is of
 * the pool's nodes and rounded up; one unreadable budget closes the pool for every reason.
 * @param nodes the pool's initialized, managed nodes whose instance is not terminating
 */
export function allowedDisruptions(budgets: readonly Budget[] | undefined, nodes: number, reason: string): Allowance {
  const given = budgets ?? defaultBudgets;
  const errors = given.map(budgetError).filter((error) => error !== undefined);
  if (errors[0] !== undefined) return { allowed: 0, bindingBudget: errors[0].index, errors };
  let allowance: Allowance = { allowed: null, bindingBudget: null, errors };
  for (const [index, budget] of given.entries()) {
    if (budget.reasons !== undefined && !budget.reasons.includes(reason)) continue;
    const allowed = scaled(budget.nodes, nodes);
    if (allowance.allowed === null || allowed < allowance.allowed)
      allowance = { allowed, bindingBudget: index, errors };
  }
  return allowance;
}
