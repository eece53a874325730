import type { Condition } from './api.js';

/** Condition types of a NodeClaim, in Karpenter's words. */
export const conditionTypes = {
  launched: 'Launched',
  registered: 'Registered',
  initialized: 'Initialized',
  drifted: 'Drifted',
  disruptionReason: 'DisruptionReason',
  instanceTerminating: 'InstanceTerminating',
  drained: 'Drained',
  /** Karpenter 1.15: the machine is rebooted in place. */
  rebooting: 'Rebooting',
  ready: 'Ready',
} as const;

/** Whatever has conditions in its status. */
export interface Conditioned {
  readonly status?: { readonly conditions?: readonly Condition[] | undefined } | undefined;
}

/** The condition of that type, if the object has one. */
export function getCondition(object: Conditioned, type: string): Condition | undefined {
  return object.status?.conditions?.find((condition) => condition.type === type);
}

/** True only for a condition whose status is the text `True`. */
export function isTrue(object: Conditioned, type: string): boolean {
  return getCondition(object, type)?.status === 'True';
}

/**
 * The conditions with one set. lastTransitionTime moves only when the status changes, as everywhere in Kubernetes.
 * Returns the same list when nothing would change, so that a caller can skip the write.
 */
export function withCondition(
  conditions: readonly Condition[],
  next: Omit<Condition, 'lastTransitionTime'>,
  at: string,
): readonly Condition[] {
  const previous = conditions.find((condition) => condition.type === next.type);
  if (previous?.status === next.status && previous.reason === next.reason && previous.message === next.message) {
    return conditions;
  }
  const lastTransitionTime = previous?.status === next.status ? previous.lastTransitionTime : at;
  const condition = { ...next, lastTransitionTime: lastTransitionTime ?? at };
  return previous === undefined
    ? [...conditions, condition]
    : conditions.map((other) => (other === previous ? condition : other));
}
