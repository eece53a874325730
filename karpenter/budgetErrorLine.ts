import type { BudgetError } from './budget.js';

/** An invalid budget in words that name pool, index, field and text. */
export function budgetErrorLine(nodePool: string, { index, field, text, message }: BudgetError): string {
  return `NodePool ${nodePool}: spec.disruption.budgets[${index}].${field} "${text}": ${message}`;
}
