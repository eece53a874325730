import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';

import type { KubernetesObject } from './objects.js';
import { fieldAt, timestampAt } from './objects.js';
import type { ObjectStore } from './objectStore.js';
import { deletionFinalizers } from './ownership.js';
import type { ResourceType } from './resources.js';
import { namespacesType, podsType } from './resources.js';
import { conflict, invalid, notImplemented, unsupportedValue } from './statusErrors.js';
import type { Written } from './updateObject.js';

/** meta/v1 DeleteOptions as far as they have an effect here. */
export const deleteOptionsSchema = z.looseObject({
  gracePeriodSeconds: z.int().nullish(),
  dryRun: z.array(z.string()).nullish(),
  propagationPolicy: z.string().nullish(),
  preconditions: z.object({ uid: z.string().nullish(), resourceVersion: z.string().nullish() }).nullish(),
});
export type DeleteOptions = z.infer<typeof deleteOptionsSchema>;

/** @throws ApiError 409 when the object is not the one, or not in the state, that the client means */
export function checkPreconditions(type: ResourceType, { metadata }: KubernetesObject, options: DeleteOptions): void {
  const { uid, resourceVersion } = options.preconditions ?? {};
  if (typeof uid === 'string' && uid !== metadata.uid) {
    const why = `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`;
    throw conflict(type, type.kind, metadata.name, why);
  }
  if (typeof resourceVersion === 'string' && resourceVersion !== metadata.resourceVersion) {
    const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`;
    throw conflict(type, type.kind, metadata.name, why);
  }
}

/** Writes when and how the object goes; the first such write counts as a change of the spec. */
function markDeleted(
  store: ObjectStore,
  type: ResourceType,
  current: KubernetesObject,
  deletionTimestamp: string,
  deletionGracePeriodSeconds: number,
): KubernetesObject {
  const isFirst = current.metadata.deletionTimestamp === undefined;
  const { generation } = current.metadata;
  const metadata = {
    ...current.metadata,
    ...(generation === undefined || !isFirst ? {} : { generation: generation + 1 }),
    deletionTimestamp,
    deletionGracePeriodSeconds,
  };
  const stored = store.get(type, current.metadata.namespace, current.metadata.name);
  return isDeepStrictEqual(metadata, stored?.metadata) ? current : store.put(type, { ...current, metadata });
}

function hasFinalizers({ metadata }: KubernetesObject): boolean {
  return (metadata.finalizers ?? []).length > 0;
}

function deleteNow(store: ObjectStore, type: ResourceType, current: KubernetesObject): Written {
  if (!hasFinalizers(current)) return { object: store.remove(type, current), removed: true };
  const at = current.metadata.deletionTimestamp ?? timestampAt(Date.now());
  return { object: markDeleted(store, type, current, at, 0), removed: false };
}

/** How long a pod is given: none when no kubelet would do anything for it. */
function podGraceSeconds(pod: KubernetesObject, options: DeleteOptions): number {
  const phase = fieldAt(pod, 'status', 'phase');
  const isTerminal = phase === 'Succeeded' || phase === 'Failed';
  if (fieldAt(pod, 'spec', 'nodeName') === undefined || isTerminal) return 0;
  const ofPod = fieldAt(pod, 'spec', 'terminationGracePeriodSeconds');
  const seconds = options.gracePeriodSeconds ?? (typeof ofPod === 'number' ? ofPod : 0);
  return seconds < 0 ? 1 : seconds;
}

interface Shortened {
  readonly atMs: number;
  readonly graceSeconds: number;
}

/** A running grace period can only be shortened; the moment does not move into the past. */
function shortened(timestamp: string, runningSeconds: number, wantedSeconds: number): Shortened {
  const atMs = Date.parse(timestamp) + (wantedSeconds - runningSeconds) * 1000;
  const nowMs = Date.now();
  if (atMs >= nowMs) return { atMs, graceSeconds: wantedSeconds };
  return { atMs: nowMs, graceSeconds: wantedSeconds === 0 ? 0 : 1 };
}

function finishGraceful(store: ObjectStore, pod: KubernetesObject, graceSeconds: number): Written {
  if (hasFinalizers(pod) || graceSeconds > 0) return { object: pod, removed: false };
  return { object: store.remove(podsType, pod), removed: true };
}

function deletePod(store: ObjectStore, pod: KubernetesObject, options: DeleteOptions): Written {
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
  if (deletionTimestamp === undefined) {
    const graceSeconds = podGraceSeconds(pod, options);
    const at = timestampAt(Date.now() + graceSeconds * 1000);
    return finishGraceful(store, markDeleted(store, podsType, pod, at, graceSeconds), graceSeconds);
  }
  const runningSeconds = deletionGracePeriodSeconds ?? 0;
  if (runningSeconds === 0) return deleteNow(store, podsType, pod);
  const given = options.gracePeriodSeconds;
  const wantedSeconds = typeof given === 'number' && given < 0 ? 1 : given;
  if (typeof wantedSeconds !== 'number' || wantedSeconds >= runningSeconds) return { object: pod, removed: false };
  const { atMs, graceSeconds } = shortened(deletionTimestamp, runningSeconds, wantedSeconds);
  const marked = markDeleted(store, podsType, pod, timestampAt(atMs), graceSeconds);
  return finishGraceful(store, marked, graceSeconds);
}

const policies = ['Foreground', 'Background', 'Orphan'] as const;

/** The object with the finalizers that keep it for the garbage collector. */
function withPolicy(current: KubernetesObject, { propagationPolicy }: DeleteOptions): KubernetesObject {
  if (propagationPolicy === null || propagationPolicy === undefined) return current;
  const policy = policies.find((each) => each === propagationPolicy);
  if (policy === undefined) {
    const unsupported = unsupportedValue('propagationPolicy', propagationPolicy, [...policies, 'nil']);
    throw invalid('meta.k8s.io', 'DeleteOptions', '', [unsupported]);
  }
  const { finalizers: present = [], ...metadata } = current.metadata;
  const finalizers = [...deletionFinalizers(present, policy)];
  return { ...current, metadata: { ...metadata, ...(finalizers.length === 0 ? {} : { finalizers }) } };
}

/**
 * Deletes an object, or begins to: finalizers and the grace period of a pod keep it.
 * @throws ApiError 409 for a precondition that does not hold, 422 for a policy that there is not
 */
export function deleteObject(
  store: ObjectStore,
  type: ResourceType,
  current: KubernetesObject,
  options: DeleteOptions,
): Written {
  if ((options.dryRun ?? []).length > 0) throw notImplemented('dryRun');
  if (type === namespacesType) throw notImplemented('deleting a namespace');
  checkPreconditions(type, current, options);
  const object = withPolicy(current, options);
  return type === podsType ? deletePod(store, object, options) : deleteNow(store, type, object);
}
