import type { ObjectStore } from './objectStore.js';
import { bind, evict } from './podRequests.js';
import { getObject, listObjects } from './readRequests.js';
import { checkJsonContent } from './requestBody.js';
import type { ResourceAnswer, ResourceRequest } from './resourceRequest.js';
import { notImplemented } from './statusErrors.js';
import { create, patch, remove, replace } from './writeRequests.js';

function checkWriteOptions(query: URLSearchParams): void {
  if ((query.get('dryRun') ?? '') !== '') throw notImplemented('dryRun');
}

function post(store: ObjectStore, request: ResourceRequest): ResourceAnswer {
  if (request.info.subresource === 'eviction') return evict(store, request);
  return request.info.subresource === 'binding' ? bind(store, request) : create(store, request);
}

/**
 * Does what a request asks for.
 * @throws ApiError as the API server answers
 */
export function handleResource(store: ObjectStore, request: ResourceRequest): ResourceAnswer {
  if (request.method !== 'GET') checkWriteOptions(request.query);
  switch (request.method) {
    case 'GET':
      return request.info.name === undefined ? listObjects(store, request) : getObject(store, request);
    case 'POST':
      checkJsonContent(request.info.type, request.headers['content-type']);
      return post(store, request);
    case 'PUT':
      checkJsonContent(request.info.type, request.headers['content-type']);
      return replace(store, request);
    case 'PATCH':
      return patch(store, request);
    case 'DELETE':
      return remove(store, request);
  }
}
