import type { Requirement } from '../../karpenter/api.js';

export type Labels = Readonly<Record<string, string>>;

/** As in `spec.selector` of workloads and PodDisruptionBudgets. */
export interface LabelSelector {
  readonly matchLabels?: Labels | undefined;
  readonly matchExpressions?: readonly Requirement[] | undefined;
}

function number(text: string | undefined): number {
  return text === undefined || text.trim() === '' ? Number.NaN : Number(text);
}

/** Whether the labels meet one requirement. A label that is missing meets NotIn and DoesNotExist only. */
export function meetsRequirement(labels: Labels, { key, operator, values = [] }: Requirement): boolean {
  const value = labels[key];
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

export function hasLabels(labels: Labels, wanted: Labels): boolean {
  return Object.entries(wanted).every(([key, value]) => labels[key] === value);
}

/** An empty selector selects everything, an absent one nothing. */
export function isSelected(labels: Labels, selector: LabelSelector | undefined): boolean {
  if (selector === undefined) return false;
  const expressions = selector.matchExpressions ?? [];
  return (
    hasLabels(labels, selector.matchLabels ?? {}) &&
    expressions.every((requirement) => meetsRequirement(labels, requirement))
  );
}
