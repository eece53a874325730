import { createObject } from './createObject.js';
import type { Fields } from './objects.js';
import { parseDraft } from './objects.js';
import type { ObjectStore } from './objectStore.js';
import { findResourceType } from './resources.js';

/** Where an object is kept, e.g. `{group: '', version: 'v1', plural: 'nodes'}`. */
export interface SeedResource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
}

/**
 * Creates an object with the status that it has, as if requests had done so before anybody looked.
 * @throws ApiError as the API server would answer; Error for an unknown resource
 */
export function seedObject(store: ObjectStore, { group, version, plural }: SeedResource, object: Fields): void {
  const type = findResourceType(group, version, plural);
  if (type === undefined) throw new Error(`there is no resource ${plural} in ${group}/${version}`);
  const draft = parseDraft(object);
  const { namespace } = draft.metadata;
  const created = createObject(store, type, typeof namespace === 'string' ? namespace : undefined, draft);
  const { status } = object;
  if (status !== undefined) store.put(type, { ...created, status });
}
