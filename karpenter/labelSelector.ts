import type { LabelSelector } from './api.js';
import { holds } from './requirements.js';

/** Whether the labels satisfy a Kubernetes label selector; an empty one matches everything, an absent one nothing. */
export function selects(
  selector: LabelSelector | undefined,
  labels: Readonly<Record<string, string>> | undefined,
): boolean {
  if (selector === undefined) return false;
  const own = new Map(Object.entries(labels ?? {}));
  const matchesLabels = Object.entries(selector.matchLabels ?? {}).every(([key, value]) => own.get(key) === value);
  return (
    matchesLabels &&
    (selector.matchExpressions ?? []).every(({ key, operator, values = [] }) => holds(operator, values, own.get(key)))
  );
}
