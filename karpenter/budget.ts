import type { Budget } from './api.js';
import { readCron } from './cron.js';
import type { WindowState } from './cronWindow.js';
import { windowAt } from './cronWindow.js';
import { parseGoDurationMs } from './goDuration.js';
import { parseGoInteger } from './goInteger.js';

/** What is wrong with a budget. One that cannot be read closes its whole pool, as in Karpenter. */
export interface BudgetError {
  /** Which budget of the list. */
  readonly index: number;
  /** `nodes`, `schedule`, `duration`, `reasons`, one that Driftless does not know, or `budgets`: the list itself. */
  readonly field: string;
  readonly text: string;
  /** What would be right. */
  readonly message: string;
}

/** How many nodes may be disrupted at once for one reason; `allowed: null` means that nothing bounds it. */
export interface Allowance {
  readonly allowed: number | null;
  /** Index of the budget that sets the bound. */
  readonly bindingBudget: number | null;
  /** Indexes of the budgets that match the reason and are active now. */
  readonly activeBudgets: readonly number[];
  /** When a budget that matters becomes active or ceases to be, epoch milliseconds; null: not within five years. */
  readonly nextChangeMs: number | null;
  readonly errors: readonly BudgetError[];
}

/** What Karpenter assumes when a NodePool names no budgets. */
export const defaultBudgets: readonly Budget[] = [{ nodes: '10%' }];

type Limit =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'percent'; readonly value: number }
  | { readonly kind: 'unreadable' };

type WindowReading =
  | { readonly kind: 'window'; readonly window: WindowState }
  | { readonly kind: 'unreadable'; readonly error: BudgetError };

/** One budget at one instant. */
interface BudgetReading {
  readonly index: number;
  readonly matches: boolean;
  readonly isActive: boolean;
  readonly nextEdgeMs: number | null;
  readonly limit: Limit;
  readonly error: BudgetError | undefined;
}

function readLimit(nodesText: string): Limit {
  const isPercent = nodesText.endsWith('%');
  const value = parseGoInteger(isPercent ? nodesText.slice(0, -1) : nodesText);
  if (value === undefined) return { kind: 'unreadable' };
  if (isPercent) return { kind: 'percent', value: Number(value) };
  // Karpenter keeps the low 32 bits of a plain number (intstr.FromInt): two to the 32 closes the pool there, so here too.
  return { kind: 'number', value: Number(BigInt.asIntN(32, value)) };
}

function limitOf(limit: Limit, nodes: number): number {
  switch (limit.kind) {
    case 'number':
      return Math.max(0, limit.value);
    case 'percent':
      // Multiplied first, as in Karpenter: 7% of 100 is 7, where 0.07 * 100 rounded up is 8.
      return Math.max(0, Math.ceil((limit.value * nodes) / 100));
    case 'unreadable':
      return 0;
  }
}

function readWindow({ schedule, duration }: Budget, index: number, atMs: number): WindowReading {
  if (schedule === undefined && duration === undefined) {
    return { kind: 'window', window: { isOpen: true, nextEdgeMs: null } };
  }
  const unreadable = (field: BudgetError['field'], text: string, message: string): WindowReading => ({
    kind: 'unreadable',
    error: { index, field, text, message },
  });
  if (schedule === undefined)
    return unreadable('schedule', '', 'a duration needs a schedule such as "0 9 * * mon-fri"');
  const cron = readCron(schedule);
  if (cron.kind === 'unreadable') return unreadable('schedule', schedule, cron.why);
  const durationMs = parseGoDurationMs(duration ?? '0');
  if (durationMs === undefined) {
    return unreadable('duration', duration ?? '', 'must be hours and minutes such as "8h", "45m" or "1h30m"');
  }
  return { kind: 'window', window: windowAt(cron.schedule, durationMs, atMs) };
}

/** A field of a newer Karpenter may turn a budget's meaning round, as a time zone would: it is not guessed. */
function readUnknownField({ unknownFields = {} }: Budget, index: number): BudgetError | undefined {
  const [unknown] = Object.entries(unknownFields);
  if (unknown === undefined) return undefined;
  const [field, value] = unknown;
  const message = 'is a field that Driftless does not know: take it off, or use a version that knows it';
  return { index, field, text: typeof value === 'string' ? value : JSON.stringify(value), message };
}

function readBudget(budget: Budget, index: number, reason: string, atMs: number): BudgetReading {
  const limit = readLimit(budget.nodes);
  const matches = budget.reasons?.includes(reason) ?? true;
  const unreadable = (error: BudgetError): BudgetReading => ({
    index,
    matches,
    isActive: false,
    nextEdgeMs: null,
    limit,
    error,
  });
  const unknown = readUnknownField(budget, index);
  if (unknown !== undefined) return unreadable(unknown);
  const reading = readWindow(budget, index, atMs);
  if (reading.kind === 'unreadable') return unreadable(reading.error);
  const { isOpen: isActive, nextEdgeMs } = reading.window;
  // Karpenter does not look at the number of a budget that is not active.
  const error: BudgetError | undefined =
    isActive && limit.kind === 'unreadable'
      ? {
          index,
          field: 'nodes',
          text: budget.nodes,
          message: 'must be a whole number such as "5" or a percentage such as "10%"',
        }
      : undefined;
  return { index, matches, isActive, nextEdgeMs, limit, error };
}

/** The earliest of the instants that are known; null: none is. */
export function earliestMs(instantsMs: readonly (number | null)[]): number | null {
  const known = instantsMs.filter((instantMs) => instantMs !== null);
  return known.length === 0 ? null : Math.min(...known);
}

function nextChange(readings: readonly BudgetReading[]): number | null {
  // No time heals a schedule that cannot be read.
  if (readings.some(({ error }) => error !== undefined && error.field !== 'nodes')) return null;
  // An unreadable number closes the pool for every reason while its window is open.
  const watched = readings.filter(({ matches, limit }) => matches || limit.kind === 'unreadable');
  return earliestMs(watched.map(({ nextEdgeMs }) => nextEdgeMs));
}

/**
 * The minimum over the budgets that are active and match the reason, as Karpenter v1 computes it (pkg/apis/v1/nodepool.go): a
 * percentage is of the pool's nodes and rounded up, windows are `[hit, hit + duration)` in UTC, one unreadable budget closes the
 * pool for every reason, and so does one with a field that is not known here.
 * @param nodes the pool's initialized, managed nodes whose instance is not terminating
 * @param atMs the instant, epoch milliseconds
 */
export function allowedDisruptions(
  budgets: readonly Budget[] | undefined,
  nodes: number,
  reason: string,
  atMs: number,
): Allowance {
  const readings = (budgets ?? defaultBudgets).map((budget, index) => readBudget(budget, index, reason, atMs));
  const active = readings.filter(({ matches, isActive }) => matches && isActive);
  const errors = readings.map(({ error }) => error).filter((error) => error !== undefined);
  const common = { activeBudgets: active.map(({ index }) => index), nextChangeMs: nextChange(readings), errors };
  if (errors[0] !== undefined) return { allowed: 0, bindingBudget: errors[0].index, ...common };
  let allowed: number | null = null;
  let bindingBudget: number | null = null;
  for (const { index, limit } of active) {
    const bound = limitOf(limit, nodes);
    if (allowed !== null && allowed <= bound) continue;
    allowed = bound;
    bindingBudget = index;
  }
  return { allowed, bindingBudget, ...common };
}
