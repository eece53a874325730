import type { FieldSelector } from './fieldSelector.js';
import { matchesFields, parseFieldSelector } from './fieldSelector.js';
import type { LabelSelector } from './labelSelector.js';
import { matchesLabels, parseLabelSelector } from './labelSelector.js';
import type { KubernetesObject } from './objects.js';
import type { ResourceType } from './resources.js';

/** Which objects of a collection a list or a watch is about. */
export interface Selection {
  readonly type: ResourceType;
  /** Absent: every namespace. */
  readonly namespace: string | undefined;
  readonly labels: LabelSelector;
  readonly fields: FieldSelector;
}

/** @throws ApiError 400 for a selector that cannot be read */
export function parseSelection(type: ResourceType, namespace: string | undefined, query: URLSearchParams): Selection {
  return {
    type,
    namespace,
    labels: parseLabelSelector(query.get('labelSelector') ?? ''),
    fields: parseFieldSelector(type, query.get('fieldSelector') ?? ''),
  };
}

export function isSelected(selection: Selection, object: KubernetesObject): boolean {
  return (
    (selection.namespace === undefined || object.metadata.namespace === selection.namespace) &&
    matchesLabels(selection.labels, object.metadata.labels) &&
    matchesFields(selection.fields, object)
  );
}
