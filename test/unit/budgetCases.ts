import { readFileSync } from 'node:fs';
import { z } from 'zod';

import { budgetSchema } from '../../karpenter/api.js';

const caseSchema = z.strictObject({
  name: z.string(),
  budgets: z.array(budgetSchema),
  nodes: z.number(),
  now: z.iso.datetime({ offset: true }).transform((text) => Date.parse(text)),
  reason: z.string(),
  /** null: no budget bounds it. */
  allowed: z.number().nullable(),
  /** An unreadable budget closed the pool. */
  error: z.boolean().default(false),
  /** Of a single budget: whether it is active. */
  active: z.boolean().optional(),
  /** Nodes that are disrupted already, and what is left for others. */
  disrupting: z.number().optional(),
  available: z.number().nullable().optional(),
  source: z.string(),
});

const validationCaseSchema = z.strictObject({
  name: z.string(),
  budgets: z.array(budgetSchema),
  valid: z.boolean(),
  /** What is refused, in the words of the case's author. */
  field: z.string().optional(),
  /** Of a schedule that the pattern lets pass. */
  parsesAtRunTime: z.boolean().optional(),
});

function readJson(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../cases/${name}`, import.meta.url), 'utf8'));
}

/** What Karpenter itself allows for a list of budgets. */
export type BudgetCase = z.infer<typeof caseSchema>;

export function readBudgetCases(): BudgetCase[] {
  return z.array(caseSchema).parse(readJson('budgets.json'));
}

/** What Karpenter's CRD says to a list of budgets. */
export type BudgetValidationCase = z.infer<typeof validationCaseSchema>;

export function readBudgetValidationCases(): BudgetValidationCase[] {
  return z.array(validationCaseSchema).parse(readJson('budgetValidation.json'));
}
