import type { ObjectStore } from './objectStore.js';
import {
  forbiddenValue,
  invalid,
  invalidValue,
  notImplemented,
  resourceVersionTooLarge,
  unforeseen,
  unsupportedValue,
} from './statusErrors.js';

/** @throws ApiError 500, as the API server answers a resourceVersion that is no number */
function parseResourceVersion(query: URLSearchParams): number | undefined {
  const text = query.get('resourceVersion') ?? '';
  if (text === '' || text === '0') return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  const value = JSON.stringify(text);
  throw unforeseen(`resourceVersion: Invalid value: ${value}: strconv.ParseUint: parsing ${value}: invalid syntax`);
}

function checkNotTooLarge(store: ObjectStore, revision: number | undefined): void {
  if (revision !== undefined && revision > store.revision) throw resourceVersionTooLarge(revision, store.revision);
}

function checkMatch(query: URLSearchParams, isWatch: boolean): void {
  const match = query.get('resourceVersionMatch') ?? '';
  if (match === '') return;
  const field = 'resourceVersionMatch';
  const errors = [];
  if (isWatch) {
    errors.push(forbiddenValue(field, `${field} is forbidden for watch unless sendInitialEvents is provided`));
  } else if ((query.get('resourceVersion') ?? '') === '') {
    errors.push(forbiddenValue(field, `${field} is forbidden unless resourceVersion is provided`));
  }
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    errors.push(unsupportedValue(field, match, ['Exact', 'NotOlderThan', '']));
  } else if (match === 'Exact' && query.get('resourceVersion') === '0') {
    errors.push(forbiddenValue(field, `${field} "exact" is forbidden for resourceVersion "0"`));
  }
  if (errors.length > 0) throw invalid('meta.k8s.io', 'ListOptions', '', errors);
}

/**
 * Checks which state a get or list is to be answered from; it is always the present one.
 * @throws ApiError 504 for a future state, 501 for exactly a past one
 */
export function checkReadVersion(store: ObjectStore, query: URLSearchParams): void {
  checkMatch(query, false);
  const revision = parseResourceVersion(query);
  checkNotTooLarge(store, revision);
  const isExact = query.get('resourceVersionMatch') === 'Exact';
  if (isExact && revision !== store.revision) throw notImplemented('lists of a past state');
}

/** Pages are not served: a limit has to hold everything. */
export function checkLimit(query: URLSearchParams, count: number): void {
  if (query.has('continue')) throw notImplemented('continue');
  const limit = Number(query.get('limit') ?? '0');
  if (limit > 0 && limit < count) throw notImplemented('lists in pages');
}

/** Where a watch begins: after a revision, or undefined for now. */
export function parseWatchStart(query: URLSearchParams): number | undefined {
  if (query.has('sendInitialEvents')) throw notImplemented('sendInitialEvents');
  checkMatch(query, true);
  return parseResourceVersion(query);
}

/** @throws ApiError 422 */
export function parseTimeoutSeconds(query: URLSearchParams): number | undefined {
  const text = query.get('timeoutSeconds') ?? '';
  if (text === '' || text === '0') return undefined;
  const seconds = Number(text);
  if (Number.isSafeInteger(seconds) && seconds > 0) return seconds;
  throw invalid('meta.k8s.io', 'ListOptions', '', [invalidValue('timeoutSeconds', text, 'must be a positive integer')]);
}

/** Go's strconv.ParseBool, as query parameters are read. */
export function isTrue(query: URLSearchParams, name: string): boolean {
  return ['1', 't', 'T', 'TRUE', 'true', 'True'].includes(query.get(name) ?? '');
}
