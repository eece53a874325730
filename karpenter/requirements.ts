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
      return compares(values, value, (own, bound) => own > bound);
    case 'Lt':
      return compares(values, value, (own, bound) => own < bound);
    case 'Gte':
      return compares(values, value, (own, bound) => own >= bound);
    case 'Lte':
      return compares(values, value, (own, bound) => own <= bound);
  }
}

function compares(
  [bound]: readonly string[],
  value: string | undefined,
  compare: (own: number, bound: number) => boolean,
): boolean {
  // What is no number compares as false, whichever way.
  return bound !== undefined && value !== undefined && value !== '' && compare(Number(value), Number(bound));
}
