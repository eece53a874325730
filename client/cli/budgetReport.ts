import type { Budget } from '../../karpenter/api.js';
import type { BudgetError } from '../../karpenter/budget.js';
import { allowedDisruptions, defaultBudgets } from '../../karpenter/budget.js';
import { budgetText } from '../../karpenter/waitsFor.js';

/** What `driftless budget -o json` answers; `allowed` and `available` are null where nothing bounds them. */
export interface BudgetReport {
  readonly nodePool: string;
  readonly at: string;
  readonly nodes: number;
  readonly disrupted: number;
  readonly reasons: readonly ReasonReport[];
  readonly errors: readonly BudgetError[];
}

interface ReasonReport {
  readonly reason: string;
  readonly allowed: number | null;
  readonly available: number | null;
  readonly bindingBudget: number | null;
  readonly activeBudgets: readonly number[];
  readonly nextChange: string | null;
}

/** The reasons that Karpenter's own budgets know. */
const usualReasons: readonly string[] = ['Drifted', 'Underutilized', 'Empty'];

export interface BudgetQuestion {
  readonly nodePool: string;
  readonly budgets: readonly Budget[] | undefined;
  readonly nodes: number;
  readonly disrupted: number;
  /** Epoch milliseconds. */
  readonly atMs: number;
  /** One reason only. */
  readonly reason?: string;
  /** Further faults, e.g. what the CRD would refuse. */
  readonly errors?: readonly BudgetError[];
}

function distinct(errors: readonly BudgetError[]): BudgetError[] {
  const byPlace = new Map(errors.map((error) => [`${error.index} ${error.field} ${error.text}`, error]));
  return [...byPlace.values()].sort((a, b) => a.index - b.index);
}

/** The usual reasons, and those that the budgets name. */
export function knownReasons(budgets: readonly Budget[]): readonly string[] {
  return [...new Set([...usualReasons, ...budgets.flatMap(({ reasons }) => reasons ?? [])])];
}

/** Answers per reason what the budgets allow at an instant, which one binds, and when that changes next. */
export function reportBudget(question: BudgetQuestion): BudgetReport {
  const { nodePool, budgets, nodes, disrupted, atMs } = question;
  const reasons = question.reason === undefined ? knownReasons(budgets ?? []) : [question.reason];
  const allowances = reasons.map((reason) => ({ reason, ...allowedDisruptions(budgets, nodes, reason, atMs) }));
  return {
    nodePool,
    at: new Date(atMs).toISOString(),
    nodes,
    disrupted,
    reasons: allowances.map(({ reason, allowed, bindingBudget, activeBudgets, nextChangeMs }) => ({
      reason,
      allowed,
      available: allowed === null ? null : Math.max(0, allowed - disrupted),
      bindingBudget,
      activeBudgets,
      nextChange: nextChangeMs === null ? null : new Date(nextChangeMs).toISOString(),
    })),
    errors: distinct([...(question.errors ?? []), ...allowances.flatMap(({ errors }) => errors)]),
  };
}

/** The report for people. */
export function budgetLines(report: BudgetReport, budgets: readonly Budget[] | undefined): string[] {
  const given = budgets ?? defaultBudgets;
  const numberText = (value: number | null): string => (value === null ? 'any' : String(value));
  const rows = report.reasons.map(({ reason, allowed, available, bindingBudget, nextChange }) => {
    const binding = bindingBudget === null ? undefined : given[bindingBudget];
    return [
      reason.padEnd(14),
      numberText(allowed).padEnd(8),
      numberText(available).padEnd(10),
      (nextChange === null ? '-' : nextChange.slice(0, 16)).padEnd(17),
      binding === undefined ? '-' : `#${String(bindingBudget)} ${budgetText(binding)}`,
    ].join(' ');
  });
  return [
    `NodePool ${report.nodePool} at ${report.at}: ${report.nodes} nodes, ${report.disrupted} disrupted`,
    ['REASON'.padEnd(14), 'ALLOWED'.padEnd(8), 'AVAILABLE'.padEnd(10), 'NEXT CHANGE'.padEnd(17), 'BINDING BUDGET'].join(
      ' ',
    ),
    ...rows,
  ];
}
