import type { LabelSelector } from './api.js';

/** Whether the labels satisfy a Kubernetes label selector; an empty one matches everything, an absent one nothing. */
export function selects(
  selector: LabelSelector | undefined,
  labels: Readonly<Record<string, string>> | undefined,
): boolean {
  if (selector === undefined) return false;
  const own = new Map(Object.entries(labels ?? {}));
  const matchesLabels = Object.entries(selector.matchLabels ?? {}).every(([key, value]) => own.get(key) === value);
  return matchesLabels && (selector.matchExpressions ?? []).every((expression) => satisfies(expression, own));
}

function satisfies(
  { key, operator, values = [] }: NonNullable<LabelSelector['matchExpressions']>[number],
  labels: ReadonlyMap<string, string>,
): boolean {
  const value = labels.get(key);
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
  }
}
