import type { ContinueToken } from './continueToken.js';
import { decodeContinue, encodeContinue } from './continueToken.js';
import { parseListRevision } from './listOptions.js';
import type { ObjectStore } from './objectStore.js';
import { keyOfObject } from './objectStore.js';
import type { RequestInfo } from './requestInfo.js';
import type { Selection } from './selection.js';
import { parseSelection } from './selection.js';
import { badRequest, continueExpired, resourceVersionExpired } from './statusErrors.js';
import type { StoredObject } from './storedObject.js';

/** A meta/v1 ListMeta. */
interface ListMetadata {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

interface ListPage {
  readonly metadata: ListMetadata;
  readonly items: readonly StoredObject[];
}

/** Sorts directly behind the key itself. */
const after = '\0';

function parseLimit(query: URLSearchParams): number {
  const limit = Number(query.get('limit') ?? '0');
  // A list from the cache, which `0` asks for, comes whole.
  const isFromCache = query.get('resourceVersion') === '0';
  return limit > 0 && !isFromCache ? limit : Infinity;
}

function parseContinue(query: URLSearchParams): ContinueToken | undefined {
  const text = query.get('continue') ?? '';
  if (text === '') return undefined;
  const resourceVersion = query.get('resourceVersion') ?? '';
  if (resourceVersion !== '' && resourceVersion !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  return decodeContinue(text);
}

function itemsAt(store: ObjectStore, selection: Selection, revision: number): readonly StoredObject[] {
  if (revision < store.oldestResumable) throw resourceVersionExpired(revision, store.oldestResumable);
  return store.listAt(selection, revision);
}

/**
 * The objects that a list asks for, as many as it wants at once. All pages are of the state of the first one.
 * @throws ApiError 410 when that state is forgotten
 */
export function listPage(store: ObjectStore, { type, namespace }: RequestInfo, query: URLSearchParams): ListPage {
  const limit = parseLimit(query);
  const token = parseContinue(query);
  if (token?.revision !== undefined && token.revision < store.oldestResumable) {
    throw continueExpired(encodeContinue({ ...token, revision: undefined }));
  }
  const revision = token === undefined ? parseListRevision(store, query) : (token.revision ?? store.revision);
  const selection = parseSelection(type, namespace, query);
  const all = itemsAt(store, selection, revision);
  const rest = token === undefined ? all : all.filter((stored) => keyOfObject(stored) >= token.startKey);
  const items = rest.slice(0, limit);
  const last = items.at(-1);
  const resourceVersion = String(revision);
  if (rest.length <= limit || last === undefined) return { metadata: { resourceVersion }, items };
  const isWhole = selection.labels.length === 0 && selection.fields.length === 0;
  const metadata = {
    resourceVersion,
    continue: encodeContinue({ revision, startKey: keyOfObject(last) + after }),
    ...(isWhole ? { remainingItemCount: rest.length - items.length } : {}),
  };
  return { metadata, items };
}
