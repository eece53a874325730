import type { IncomingHttpHeaders } from 'node:http';

import type { KubernetesObject } from './objects.js';
import type { ObjectStore } from './objectStore.js';
import type { Method, RequestInfo } from './requestInfo.js';
import { notFound } from './statusErrors.js';
import { StoredObject } from './storedObject.js';
import type { Column } from './tableColumns.js';
import type { Written } from './updateObject.js';

/** A request about one resource, but for watches. */
export interface ResourceRequest {
  readonly info: RequestInfo;
  readonly method: Method;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The answer to a GET is a table of them; undefined: the objects. */
  readonly columns: readonly Column[] | undefined;
}

export interface ResourceAnswer {
  readonly code: number;
  readonly json: string;
  /** For Warning headers. */
  readonly warnings?: readonly string[];
  readonly written?: Written;
}

/** @throws ApiError 404 */
export function getCurrent(store: ObjectStore, { type, namespace, name = '' }: RequestInfo): KubernetesObject {
  const current = store.get(type, namespace, name);
  if (current === undefined) throw notFound(type, name);
  return current;
}

/** An answer with the object that a write left. */
export function answerWith(code: number, written: Written, warnings: readonly string[] = []): ResourceAnswer {
  return { code, json: new StoredObject(written.object).json, written, warnings };
}
