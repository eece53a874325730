import type { KubernetesObject } from './objects.js';
import { fieldAt } from './objects.js';
import { eventsType, namespacesType, nodesType, podsType } from './resources.js';
import type { ResourceType } from './resources.js';
import { badRequest } from './statusErrors.js';

interface Requirement {
  readonly field: string;
  readonly value: string;
  readonly negated: boolean;
}

/** All of its requirements have to hold; none at all hold for everything. */
export type FieldSelector = readonly Requirement[];

const involvedObjectFields = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];

/** The fields by which a resource can be selected, besides its name and namespace. */
const selectableFields: ReadonlyMap<ResourceType, readonly string[]> = new Map([
  [
    podsType,
    [
      'spec.nodeName',
      'spec.restartPolicy',
      'spec.schedulerName',
      'spec.serviceAccountName',
      'status.phase',
      'status.podIP',
      'status.nominatedNodeName',
    ],
  ],
  [nodesType, ['spec.unschedulable']],
  [namespacesType, ['status.phase']],
  [eventsType, [...involvedObjectFields.map((field) => `involvedObject.${field}`), 'reason', 'type']],
]);

function isSelectable(type: ResourceType, field: string): boolean {
  if (field === 'metadata.name') return true;
  if (field === 'metadata.namespace') return type.namespaced || !selectableFields.has(type);
  return selectableFields.get(type)?.includes(field) ?? false;
}

function unsupported(type: ResourceType, field: string): Error {
  const knowsItsFields = type.custom || selectableFields.has(type);
  return badRequest(
    knowsItsFields
      ? `field label not supported: ${field}`
      : `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`,
  );
}

/**
 * Reads the fieldSelector of a request.
 * @throws ApiError 400
 */
export function parseFieldSelector(type: ResourceType, text: string): FieldSelector {
  const requirements: Requirement[] = [];
  for (const term of text.split(',').filter((each) => each !== '')) {
    const [, field, operator, value] = /^([^=!]+)(==|=|!=)(.*)$/.exec(term) ?? [];
    if (field === undefined || value === undefined) {
      throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
    }
    if (!isSelectable(type, field)) throw unsupported(type, field);
    requirements.push({ field, value, negated: operator === '!=' });
  }
  return requirements;
}

function textOf(object: KubernetesObject, field: string): string {
  const value = fieldAt(object, ...field.split('.'));
  if (value === undefined) return field === 'spec.unschedulable' ? 'false' : '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export function matchesFields(selector: FieldSelector, object: KubernetesObject): boolean {
  return selector.every(({ field, value, negated }) => (textOf(object, field) === value) !== negated);
}

/** The value that the selector demands of a field, if it demands one. */
export function requiredField(selector: FieldSelector, field: string): string | undefined {
  return selector.find((requirement) => requirement.field === field && !requirement.negated)?.value;
}
