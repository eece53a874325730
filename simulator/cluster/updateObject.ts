import { isDeepStrictEqual } from 'node:util';

import type { Draft, Fields, KubernetesObject, ObjectMetadata } from './objects.js';
import { contentOf, normalizedContent, without } from './objects.js';
import type { ObjectStore } from './objectStore.js';
import type { ResourceType } from './resources.js';
import { hasStatusSubresource, namespacesType, podsType } from './resources.js';
import { withStringData } from './secretData.js';
import { invalid, invalidValue, staleResourceVersion } from './statusErrors.js';
import { validateChange } from './validation.js';

/** What a write came to. */
export interface Written {
  readonly object: KubernetesObject;
  /** The write made the object disappear: it took the last finalizer from an object that was being deleted. */
  readonly removed: boolean;
}

/** Main writes leave the status alone, status writes everything else. */
export type WrittenPart = 'main' | 'status';

function checkResourceVersion(type: ResourceType, draft: Draft, current: KubernetesObject): void {
  const { name, resourceVersion } = current.metadata;
  const given = draft.metadata.resourceVersion ?? '0';
  if (given !== '0') {
    if (given !== resourceVersion) throw staleResourceVersion(type, name);
    return;
  }
  if (!type.requiresResourceVersion) return;
  const missing = invalidValue('metadata.resourceVersion', 0, 'must be specified for an update');
  throw invalid(type.group, type.plural, name, [missing]);
}

/** The metadata that a client wants, with what it has no say in as it was. */
function nextMetadata(draft: Draft, current: ObjectMetadata): ObjectMetadata {
  const { name, uid: currentUid, resourceVersion, creationTimestamp } = current;
  const { labels, annotations, finalizers, ownerReferences, uid } = draft.metadata;
  return {
    ...without(current, 'labels', 'annotations', 'finalizers', 'ownerReferences'),
    name,
    uid: uid ?? currentUid,
    resourceVersion,
    creationTimestamp,
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(finalizers === undefined ? {} : { finalizers }),
    ...(ownerReferences === undefined ? {} : { ownerReferences }),
  };
}

/** The object with other fields of its own, and another status or none. */
function rebuilt(object: KubernetesObject, content: Fields, status: unknown): KubernetesObject {
  const { apiVersion, kind, metadata } = object;
  return { apiVersion, kind, metadata, ...without(content, 'status'), ...(status === undefined ? {} : { status }) };
}

function mainWrite(type: ResourceType, draft: Draft, current: KubernetesObject): KubernetesObject {
  const metadata = nextMetadata(draft, current.metadata);
  const keepsStatus = hasStatusSubresource(type) || type === namespacesType;
  const status = keepsStatus ? current['status'] : draft['status'];
  const next = rebuilt({ ...current, metadata }, contentOf(draft), status);
  const { generation } = current.metadata;
  if (generation === undefined || isDeepStrictEqual(contentOf(next), contentOf(current))) return next;
  return { ...next, metadata: { ...next.metadata, generation: generation + 1 } };
}

/** The metadata that a status write can change: none for custom resources, most of it for built-in ones. */
function statusMetadata(type: ResourceType, draft: Draft, current: ObjectMetadata): ObjectMetadata {
  if (type.custom || type.plural === 'volumeattachments') return current;
  const metadata = draft.metadata;
  const ownerReferences = type === podsType ? current.ownerReferences : metadata.ownerReferences;
  const labels = type.plural === 'deployments' ? current.labels : metadata.labels;
  return nextMetadata({ ...draft, metadata: { ...metadata, labels, ownerReferences } }, current);
}

function statusWrite(type: ResourceType, draft: Draft, current: KubernetesObject): KubernetesObject {
  const metadata = statusMetadata(type, draft, current.metadata);
  return rebuilt({ ...current, metadata }, contentOf(current), draft['status'] ?? (type.custom ? undefined : {}));
}

function normalizedDraft(type: ResourceType, draft: Draft): Draft {
  return type.custom
    ? draft
    : { metadata: draft.metadata, ...normalizedContent(withStringData(type, contentOf(draft))) };
}

/** An object goes when its deletion was asked for, no finalizer holds it, and no grace period runs. */
function isFinished(next: KubernetesObject, current: KubernetesObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = current.metadata;
  if ((next.metadata.finalizers ?? []).length > 0 || deletionTimestamp === undefined) return false;
  return deletionGracePeriodSeconds === undefined || deletionGracePeriodSeconds === 0;
}

/** Stores the next state of an object, unless nothing holds it any more. */
function store(objects: ObjectStore, type: ResourceType, current: KubernetesObject, next: KubernetesObject): Written {
  if (isFinished(next, current)) {
    objects.remove(type, current);
    return { object: next, removed: true };
  }
  const object = isDeepStrictEqual(next, current) ? current : objects.put(type, next);
  return { object, removed: false };
}

/** Changes metadata on the server's own account. */
export function updateMetadata(
  objects: ObjectStore,
  type: ResourceType,
  current: KubernetesObject,
  change: Partial<Pick<ObjectMetadata, 'finalizers' | 'ownerReferences'>>,
): Written {
  const { finalizers, ownerReferences, ...others } = { ...current.metadata, ...change };
  const metadata = {
    ...others,
    ...(finalizers === undefined || finalizers.length === 0 ? {} : { finalizers }),
    ...(ownerReferences === undefined || ownerReferences.length === 0 ? {} : { ownerReferences }),
  };
  return store(objects, type, current, { ...current, metadata });
}

/**
 * Changes an object to what a client proposes. A write that changes nothing is none: the resourceVersion stays.
 * @throws ApiError 409 for another resourceVersion than the current one, 422 for what is not allowed
 */
export function updateObject(
  objects: ObjectStore,
  type: ResourceType,
  part: WrittenPart,
  current: KubernetesObject,
  proposal: Draft,
): Written {
  checkResourceVersion(type, proposal, current);
  const draft = normalizedDraft(type, proposal);
  const next = part === 'main' ? mainWrite(type, draft, current) : statusWrite(type, draft, current);
  const errors = validateChange(type, next, current);
  if (errors.length > 0) throw invalid(type.group, type.kind, current.metadata.name, errors);
  return store(objects, type, current, next);
}
