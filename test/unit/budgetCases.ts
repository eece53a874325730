import { readFileSync } from 'node:fs';
import { z } from 'zod';

import { budgetSchema } from '../../karpenter/api.js';

const caseSchema = z.object({
  name: z.string(),
  budgets: z.array(budgetSchema),
  nodes: z.number(),
  reason: z.string(),
  /** null: no budget bounds it. */
  allowed: z.number().nullable(),
  /** An unreadable budget closed the pool. */
  error: z.boolean().default(false),
  disrupting: z.number().optional(),
  available: z.number().nullable().optional(),
});

/** What Karpenter itself answers for a list of budgets. */
export type BudgetCase = z.infer<typeof caseSchema>;

/** The cases of test/cases/budgets.json in which no budget has a schedule or a duration. */
export function readUnscheduledBudgetCases(): BudgetCase[] {
  const text = readFileSync(new URL('../cases/budgets.json', import.meta.url), 'utf8');
  return z
    .array(caseSchema)
    .parse(JSON.parse(text))
    .filter(({ budgets }) => budgets.every(({ schedule, duration }) => (schedule ?? duration) === undefined));
}
