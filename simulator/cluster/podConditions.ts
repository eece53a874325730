import type { Fields, KubernetesObject } from './objects.js';
import { fieldAt, isFields, listAt, timestampAt } from './objects.js';

interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason?: string;
  readonly message?: string;
  readonly observedGeneration?: number;
}

export function findCondition(object: unknown, type: string): Fields | undefined {
  return listAt(object, 'status', 'conditions')
    .filter(isFields)
    .find((condition) => condition['type'] === type);
}

/** The status with one condition set; its transition time moves only with its status. */
export function statusWithCondition(object: KubernetesObject, condition: Condition): Fields {
  const previous = findCondition(object, condition.type);
  const keepsTime = previous?.['status'] === condition.status;
  const lastTransitionTime = keepsTime ? previous['lastTransitionTime'] : timestampAt(Date.now());
  const others = listAt(object, 'status', 'conditions').filter((other) => other !== previous);
  const status = object['status'];
  return { ...(isFields(status) ? status : {}), conditions: [...others, { ...condition, lastTransitionTime }] };
}

export function isPodReady(pod: KubernetesObject): boolean {
  return fieldAt(findCondition(pod, 'Ready'), 'status') === 'True';
}
