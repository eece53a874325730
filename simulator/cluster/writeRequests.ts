import { createObject } from './createObject.js';
import type { DeleteOptions } from './deleteObject.js';
import { deleteObject, deleteOptionsSchema } from './deleteObject.js';
import type { Draft, KubernetesObject } from './objects.js';
import type { ObjectStore } from './objectStore.js';
import { applyJsonPatch, applyMergePatch } from './patches.js';
import type { PatchType } from './patchType.js';
import { patchTypeOf } from './patchType.js';
import { checkUnknownFields, parseFieldValidation, readObject, warningsOf } from './readObject.js';
import { parseBody, parseJson } from './requestBody.js';
import type { RequestInfo } from './requestInfo.js';
import type { ResourceType } from './resources.js';
import type { ResourceAnswer, ResourceRequest } from './resourceRequest.js';
import { answerWith, getCurrent } from './resourceRequest.js';
import { structOfKind } from './shape.js';
import { badRequest, conflict, notImplemented, successStatus } from './statusErrors.js';
import { applyStrategicPatch } from './strategicPatch.js';
import { updateObject } from './updateObject.js';

/** The namespace of the path is the object's; one that says otherwise is refused. */
function checkNamespace({ type, namespace }: RequestInfo, draft: Draft): void {
  if (!type.namespaced || draft.metadata.namespace === undefined || draft.metadata.namespace === namespace) return;
  throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
}

function checkName({ name = '' }: RequestInfo, draft: Draft): void {
  const given = draft.metadata.name;
  if (given === name) return;
  throw badRequest(
    given === undefined
      ? `the name of the object (${name} based on URL) was undeterminable: name must be provided`
      : `the name of the object (${given}) does not match the name on the URL (${name})`,
  );
}

/** POST to a collection. */
export function create(store: ObjectStore, { info, query, body }: ResourceRequest): ResourceAnswer {
  const { type, namespace } = info;
  const validation = parseFieldValidation(query, 'CreateOptions');
  const read = readObject(type, parseJson(body, type.kind));
  checkUnknownFields(type, read, validation);
  checkNamespace(info, read.draft);
  const object = createObject(store, type, namespace, read.draft);
  return answerWith(201, { object, removed: false }, warningsOf(read, validation));
}

/** PUT names the object that it means; a patch works on whatever is there. */
function checkUid(type: ResourceType, draft: Draft, { metadata }: KubernetesObject): void {
  const { uid } = draft.metadata;
  if (uid === undefined || uid === metadata.uid) return;
  const path = [type.plural, metadata.namespace, metadata.name].filter((part) => part !== undefined).join('/');
  const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`;
  const storageError = `StorageError: invalid object, Code: 4, Key: /registry/${path}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`;
  throw conflict(type, type.plural, metadata.name, storageError);
}

/** PUT. */
export function replace(store: ObjectStore, request: ResourceRequest): ResourceAnswer {
  const { info, query, body } = request;
  const { type, namespace, name = '' } = info;
  const validation = parseFieldValidation(query, 'UpdateOptions');
  const read = readObject(type, parseJson(body, type.kind));
  checkUnknownFields(type, read, validation);
  const { draft } = read;
  checkNamespace(info, draft);
  checkName(info, draft);
  const isAbsent = store.get(type, namespace, name) === undefined;
  if (isAbsent && type.createsOnUpdate && info.subresource === undefined) return create(store, request);
  const current = getCurrent(store, info);
  checkUid(type, draft, current);
  const part = info.subresource === 'status' ? 'status' : 'main';
  return answerWith(200, updateObject(store, type, part, current, draft), warningsOf(read, validation));
}

function applyPatch(type: ResourceType, patchType: PatchType, current: KubernetesObject, given: unknown): unknown {
  switch (patchType) {
    case 'json':
      return applyJsonPatch(current, given);
    case 'merge':
      return applyMergePatch(current, given);
    case 'strategic':
      return applyStrategicPatch(structOfKind(type.kind), current, given);
  }
}

/** PATCH. */
export function patch(store: ObjectStore, { info, query, headers, body }: ResourceRequest): ResourceAnswer {
  const { type } = info;
  const validation = parseFieldValidation(query, 'PatchOptions');
  const patchType = patchTypeOf(type, headers['content-type']);
  const given = parseJson(body, type.kind);
  const current = getCurrent(store, info);
  const read = readObject(type, applyPatch(type, patchType, current, given));
  checkUnknownFields(type, read, validation);
  const { draft } = read;
  checkNamespace(info, draft);
  checkName(info, draft);
  const part = info.subresource === 'status' ? 'status' : 'main';
  return answerWith(200, updateObject(store, type, part, current, draft), warningsOf(read, validation));
}

function parseDeleteOptions({ query, body }: ResourceRequest): DeleteOptions {
  if (body !== '') return parseBody(deleteOptionsSchema, parseJson(body, 'DeleteOptions'), 'DeleteOptions');
  const [grace, propagationPolicy] = [query.get('gracePeriodSeconds'), query.get('propagationPolicy')];
  const options = {
    ...(grace === null ? {} : { gracePeriodSeconds: Number(grace) }),
    ...(propagationPolicy === null ? {} : { propagationPolicy }),
  };
  return parseBody(deleteOptionsSchema, options, 'DeleteOptions');
}

/** DELETE. */
export function remove(store: ObjectStore, request: ResourceRequest): ResourceAnswer {
  const { info } = request;
  const { type } = info;
  if (info.name === undefined) throw notImplemented('deleting a collection');
  const options = parseDeleteOptions(request);
  const current = getCurrent(store, info);
  const written = deleteObject(store, type, current, options);
  if (!written.removed || type.answersDeletedObject) return answerWith(200, written);
  const { name, uid } = current.metadata;
  const group = type.group === '' ? {} : { group: type.group };
  const status = successStatus({ details: { name, ...group, kind: type.plural, uid } });
  return { code: 200, json: JSON.stringify(status), written };
}
