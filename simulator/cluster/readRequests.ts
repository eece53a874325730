import { checkLimit, checkReadVersion } from './listOptions.js';
import type { ObjectStore } from './objectStore.js';
import { apiVersionOf } from './resources.js';
import type { ResourceAnswer, ResourceRequest } from './resourceRequest.js';
import { parseSelection } from './selection.js';
import { notFound } from './statusErrors.js';

/** GET of a collection. */
export function listObjects(store: ObjectStore, { info, query }: ResourceRequest): ResourceAnswer {
  checkReadVersion(store, query);
  const { type, namespace } = info;
  const items = store.list(parseSelection(type, namespace, query));
  checkLimit(query, items.length);
  const head = {
    kind: `${type.kind}List`,
    apiVersion: apiVersionOf(type),
    metadata: { resourceVersion: String(store.revision) },
  };
  const itemsJson = items.map((item) => (type.custom ? item.json : item.itemJson)).join(',');
  return { code: 200, json: `${JSON.stringify(head).slice(0, -1)},"items":[${itemsJson}]}` };
}

/** GET of one object. */
export function getObject(store: ObjectStore, { info, query }: ResourceRequest): ResourceAnswer {
  checkReadVersion(store, query);
  const { type, namespace, name = '' } = info;
  const stored = store.getStored(type, namespace, name);
  if (stored === undefined) throw notFound(type, name);
  return { code: 200, json: stored.json };
}
