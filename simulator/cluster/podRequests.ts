import { bindingSchema, bindPod } from './bindPod.js';
import { evictionSchema, evictPod } from './evictPod.js';
import type { ObjectStore } from './objectStore.js';
import { parseBody, parseJson } from './requestBody.js';
import { namespacesType } from './resources.js';
import type { ResourceAnswer, ResourceRequest } from './resourceRequest.js';
import { getCurrent } from './resourceRequest.js';
import { notFound, successStatus } from './statusErrors.js';

function checkNamespaceExists(store: ObjectStore, namespace: string | undefined): void {
  if (namespace !== undefined && store.get(namespacesType, undefined, namespace) === undefined) {
    throw notFound(namespacesType, namespace);
  }
}

const created = JSON.stringify(successStatus({ code: 201 }));

/** POST to pods/eviction. */
export function evict(store: ObjectStore, { info, body }: ResourceRequest): ResourceAnswer {
  const eviction = parseBody(evictionSchema, parseJson(body, 'Eviction'), 'Eviction');
  checkNamespaceExists(store, info.namespace);
  return { code: 201, json: created, written: evictPod(store, getCurrent(store, info), eviction) };
}

/** POST to pods/binding. */
export function bind(store: ObjectStore, { info, body }: ResourceRequest): ResourceAnswer {
  const binding = parseBody(bindingSchema, parseJson(body, 'Binding'), 'Binding');
  checkNamespaceExists(store, info.namespace);
  return { code: 201, json: created, written: bindPod(store, getCurrent(store, info), binding) };
}
