import type { IncomingHttpHeaders } from 'node:http';

import type { KubernetesObject } from './objects.js';
import type { ObjectStore } from './objectStore.js';
import type { Method, RequestInfo } from './requestInfo.js';
import { notFound } from './statusErrors.js';
import { StoredObject } from './storedObject.js';
import type { Written } from './updateObject.js';

/** A request about one resource, but for watches. */
export interface ResourceRequest {
  readonly info: RequestInfo;
  readonly method: Method;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface ResourceAnswer {
  readonly code: number;
  readonly json: string;
  readonly written?: Written;
}

/** @throws ApiError 404 */
export function getCurrent(store: ObjectStore, { type, namespace, name = '' }: RequestInfo): KubernetesObject {
  const current = store.get(type, namespace, name);
  if (current === undefined) throw notFound(type, name);
  return current;
}

/** An answer with the object that a write left. */
export function answerWith(code: number, written: Written): ResourceAnswer {
  return { code, json: new StoredObject(written.object).json, written };
}
