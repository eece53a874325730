import type { Budget } from './api.js';
import type { BudgetError } from './budget.js';

const maxBudgets = 50;
const maxReasons = 50;
const knownReasons: readonly string[] = ['Underutilized', 'Empty', 'Drifted', 'Unhealthy'];
const nodesPattern = /^(?:(?:100|[0-9]{1,2})%|[0-9]+)$/;
const durationPattern = /^(?:[0-9]+[hm]|[0-9]+h[0-9]+m)(?:0s)?$/;
const descriptorPattern = /^@(?:annually|yearly|monthly|weekly|daily|midnight|hourly)/;

/**
 * Whether the text ends with five parts of at least one character, each a white space from the next: Karpenter's
 * `(.+)\s(.+)\s(.+)\s(.+)\s(.+)$`, in linear time, which backtracking would not be.
 */
function endsWithFiveParts(text: string): boolean {
  // At each character: in which part, or just before which part, a match may be.
  let within = [false, false, false, false, false];
  let before = [true, false, false, false, false];
  for (const character of text) {
    const isSpace = /[\t\n\f\r ]/.test(character);
    const nextBefore = before.map((_, part) => part === 0 || (isSpace && within[part - 1] === true));
    const canBeWithin = (isWithin: boolean, part: number): boolean => isWithin || before[part] === true;
    within = within.map((isWithin, part) => character !== '\n' && canBeWithin(isWithin, part));
    before = nextBefore;
  }
  return within.at(-1) === true;
}

function isSchedule(text: string): boolean {
  return descriptorPattern.test(text) || endsWithFiveParts(text);
}

function validateReasons(reasons: readonly string[], index: number): BudgetError[] {
  const error = (text: string, message: string): BudgetError => ({ index, field: 'reasons', text, message });
  const duplicates = new Set(reasons.filter((reason, at) => reasons.indexOf(reason) !== at));
  return [
    ...(reasons.length > maxReasons ? [error(`${reasons.length} reasons`, `at most ${maxReasons} are allowed`)] : []),
    ...reasons
      .filter((reason) => !knownReasons.includes(reason))
      .map((reason) => error(reason, `must be one of ${knownReasons.join(', ')}`)),
    ...[...duplicates].map((reason) => error(reason, 'must be named once only')),
  ];
}

function validateWindow({ schedule, duration }: Budget, index: number): BudgetError[] {
  const errors: BudgetError[] = [];
  if (schedule !== undefined && !isSchedule(schedule)) {
    const message = 'must be five fields such as "0 9 * * mon-fri" or a descriptor such as "@daily"';
    errors.push({ index, field: 'schedule', text: schedule, message });
  }
  if (duration !== undefined && !durationPattern.test(duration)) {
    const message = 'must be hours and minutes such as "8h", "45m" or "1h30m"';
    errors.push({ index, field: 'duration', text: duration, message });
  }
  if (schedule === undefined && duration !== undefined) {
    errors.push({ index, field: 'schedule', text: '', message: 'must be set with a duration' });
  }
  if (schedule !== undefined && duration === undefined) {
    errors.push({ index, field: 'duration', text: '', message: 'must be set with a schedule' });
  }
  return errors;
}

/**
 * What Karpenter's CRD would refuse when the budgets are applied. Its patterns let schedules pass that cannot be read at run time:
 * those are among the errors of `allowedDisruptions`.
 */
export function validateBudgets(budgets: readonly Budget[]): BudgetError[] {
  const errors = budgets.flatMap((budget, index): BudgetError[] => {
    const message = 'must be a whole number such as "5" or a percentage up to "100%"';
    return [
      ...(nodesPattern.test(budget.nodes) ? [] : [{ index, field: 'nodes' as const, text: budget.nodes, message }]),
      ...validateWindow(budget, index),
      ...validateReasons(budget.reasons ?? [], index),
    ];
  });
  if (budgets.length <= maxBudgets) return errors;
  const message = `at most ${maxBudgets} are allowed`;
  return [{ index: maxBudgets, field: 'budgets', text: `${budgets.length} budgets`, message }, ...errors];
}
