import { randomUUID } from 'node:crypto';

import { labelsAtCreation, statusAtCreation, withDefaults } from './defaults.js';
import { generateName } from './names.js';
import type { Draft, Fields, KubernetesObject } from './objects.js';
import { contentOf, isFields, normalizedContent, timestampAt, without } from './objects.js';
import type { ObjectStore } from './objectStore.js';
import { podPriority } from './podPriority.js';
import type { ResourceType } from './resources.js';
import { apiVersionOf, namespacesType, podsType } from './resources.js';
import { withStringData } from './secretData.js';
import { alreadyExists, invalid, notFound, unforeseen } from './statusErrors.js';
import { validateNew } from './validation.js';

function requireNamespace(store: ObjectStore, namespace: string | undefined): void {
  if (namespace === undefined || store.get(namespacesType, undefined, namespace) !== undefined) return;
  throw notFound(namespacesType, namespace);
}

function nameOf({ name, generateName: base }: Draft['metadata']): string {
  if (name !== undefined) return name;
  return base === undefined ? '' : generateName(base);
}

function contentAtCreation(store: ObjectStore, type: ResourceType, draft: Draft): Fields {
  const given = contentOf(draft);
  if (type.custom) return without(given, 'status');
  const content = withDefaults(type, withStringData(type, given));
  if (type === podsType) {
    const spec = content['spec'];
    const withPriority = { ...podPriority(store, draft), ...(isFields(spec) ? spec : {}) };
    return { ...content, spec: withPriority, status: statusAtCreation(type, content) };
  }
  const status = statusAtCreation(type, content);
  return status === undefined ? without(content, 'status') : { ...content, status };
}

/**
 * Creates an object from what a client sent.
 * @throws ApiError as the API server answers: no such namespace, invalid, already there
 */
export function createObject(
  store: ObjectStore,
  type: ResourceType,
  namespace: string | undefined,
  given: Draft,
): KubernetesObject {
  requireNamespace(store, namespace);
  if (given.metadata.resourceVersion !== undefined && given.metadata.resourceVersion !== '0') {
    throw unforeseen('resourceVersion should not be set on objects to be created');
  }
  const name = nameOf(given.metadata);
  const draft = { ...given, metadata: { ...given.metadata, name } };
  const errors = validateNew(type, draft, namespace);
  if (errors.length > 0) throw invalid(type.group, type.kind, name, errors);

  const existing = store.get(type, namespace, name);
  if (existing !== undefined) {
    throw alreadyExists(type, name, existing.metadata.deletionTimestamp !== undefined);
  }
  const { generateName: base, annotations, finalizers, ownerReferences } = draft.metadata;
  const labels = labelsAtCreation(type, name, draft.metadata.labels);
  const content = contentAtCreation(store, type, draft);
  return store.put(type, {
    kind: type.kind,
    apiVersion: apiVersionOf(type),
    metadata: {
      name,
      ...(base === undefined ? {} : { generateName: base }),
      ...(namespace === undefined ? {} : { namespace }),
      uid: randomUUID(),
      resourceVersion: '',
      ...(type.hasGeneration ? { generation: 1 } : {}),
      creationTimestamp: timestampAt(Date.now()),
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ...(finalizers === undefined ? {} : { finalizers }),
      ...(ownerReferences === undefined ? {} : { ownerReferences }),
    },
    ...(type.custom ? content : normalizedContent(content)),
  });
}
