import type { Requirement } from './api.js';

/**
 * Whether a label with that value, or without one, satisfies an operator: Kubernetes' rule, and Karpenter's for Gt, Lt, Gte and Lte,
 * which compare integers.
 */
export function holds(
  operator: Requirement['operator'],
  values: readonly string[],
  value: string | undefined,
): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return number(value) > number(values[0]);
    case 'Lt':
      return number(value) < number(values[0]);
    case 'Gte':
      return number(value) >= number(values[0]);
    case 'Lte':
      return number(value) <= number(values[0]);
  }
}

/** What is no number compares as false, whichever way. */
function number(text: string | undefined): number {
  return text === undefined || text.trim() === '' ? Number.NaN : Number(text);
}
