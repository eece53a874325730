import type { Draft, Fields } from './objects.js';
import { fieldAt, textAt } from './objects.js';
import type { ObjectStore } from './objectStore.js';
import { podsType, priorityClassesType } from './resources.js';
import { forbidden } from './statusErrors.js';

/** The classes that every cluster has, with their priorities. */
export const systemPriorityClasses = [
  { name: 'system-cluster-critical', value: 2_000_000_000 },
  { name: 'system-node-critical', value: 2_000_001_000 },
] as const;

/**
 * What the Priority admission adds to the spec of a new pod.
 * @throws ApiError 403 when the pod names a class that does not exist
 */
export function podPriority(store: ObjectStore, pod: Draft): Fields {
  const className = textAt(pod, 'spec', 'priorityClassName');
  if (className === '') return { priority: 0, preemptionPolicy: 'PreemptLowerPriority' };
  const priorityClass = store.get(priorityClassesType, undefined, className);
  if (priorityClass === undefined) {
    const why = `no PriorityClass with name ${className} was found`;
    throw forbidden(podsType.group, podsType.plural, pod.metadata.name ?? '', why);
  }
  return { priority: fieldAt(priorityClass, 'value'), preemptionPolicy: fieldAt(priorityClass, 'preemptionPolicy') };
}
