import { checkReadVersion } from './listOptions.js';
import { listPage } from './listPage.js';
import type { ObjectStore } from './objectStore.js';
import { apiVersionOf } from './resources.js';
import type { ResourceAnswer, ResourceRequest } from './resourceRequest.js';
import { notFound } from './statusErrors.js';
import { tableOf } from './table.js';

/** GET of a collection. */
export function listObjects(store: ObjectStore, { info, query, columns }: ResourceRequest): ResourceAnswer {
  const { type } = info;
  const { items, metadata } = listPage(store, info, query);
  if (columns !== undefined) {
    const objects = items.map(({ object }) => object);
    return { code: 200, json: JSON.stringify(tableOf(columns, objects, metadata)) };
  }
  const head = {
    kind: `${type.kind}List`,
    apiVersion: apiVersionOf(type),
    metadata,
  };
  const itemsJson = items.map((item) => (type.custom ? item.json : item.itemJson)).join(',');
  return { code: 200, json: `${JSON.stringify(head).slice(0, -1)},"items":[${itemsJson}]}` };
}

/** GET of one object. */
export function getObject(store: ObjectStore, { info, query, columns }: ResourceRequest): ResourceAnswer {
  checkReadVersion(store, query);
  const { type, namespace, name = '' } = info;
  const stored = store.getStored(type, namespace, name);
  if (stored === undefined) throw notFound(type, name);
  if (columns === undefined) return { code: 200, json: stored.json };
  const { resourceVersion } = stored.object.metadata;
  return { code: 200, json: JSON.stringify(tableOf(columns, [stored.object], { resourceVersion })) };
}
