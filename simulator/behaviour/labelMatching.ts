import type { Requirement } from '../../karpenter/api.js';
import { holds } from '../../karpenter/requirements.js';

export type Labels = Readonly<Record<string, string>>;

/** As in `spec.selector` of workloads and PodDisruptionBudgets. */
export interface LabelSelector {
  readonly matchLabels?: Labels | undefined;
  readonly matchExpressions?: readonly Requirement[] | undefined;
}

/** Whether the labels meet one requirement. A label that is missing meets NotIn and DoesNotExist only. */
export function meetsRequirement(labels: Labels, { key, operator, values = [] }: Requirement): boolean {
  return holds(operator, values, labels[key]);
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
