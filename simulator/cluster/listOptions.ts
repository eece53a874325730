import type { ObjectStore } from './objectStore.js';
import {
  forbiddenValue,
  invalid,
  invalidValue,
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

function checkMatch(query: URLSearchParams): void {
  const match = query.get('resourceVersionMatch') ?? '';
  if (match === '') return;
  const field = 'resourceVersionMatch';
  const errors = [];
  if ((query.get('resourceVersion') ?? '') === '') {
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
 * Checks how fresh a get is to be: it is always answered from the present state.
 * @throws ApiError 504 for a future state
 */
export function checkReadVersion(store: ObjectStore, query: URLSearchParams): void {
  checkNotTooLarge(store, parseResourceVersion(query));
}

/**
 * The state that a list is to be answered from.
 * @throws ApiError 504 for a future state
 */
export function parseListRevision(store: ObjectStore, query: URLSearchParams): number {
  checkMatch(query);
  const revision = parseResourceVersion(query);
  checkNotTooLarge(store, revision);
  const isExact = query.get('resourceVersionMatch') === 'Exact';
  return isExact && revision !== undefined ? revision : store.revision;
}

/** Where a watch begins. */
export interface WatchStart {
  /** After that revision; undefined for now, after the present objects. */
  readonly since: number | undefined;
  /** The end of the present objects is told by a bookmark. */
  readonly tellsInitialEnd: boolean;
}

/** @throws ApiError 422 */
export function parseWatchStart(query: URLSearchParams): WatchStart {
  const field = 'resourceVersionMatch';
  const match = query.get(field) ?? '';
  const given = query.get('sendInitialEvents');
  if (given === null) {
    if (match !== '') {
      const why = `${field} is forbidden for watch unless sendInitialEvents is provided`;
      throw invalid('meta.k8s.io', 'ListOptions', '', [forbiddenValue(field, why)]);
    }
    return { since: parseResourceVersion(query), tellsInitialEnd: false };
  }
  if (match !== 'NotOlderThan') {
    const why = `sendInitialEvents requires setting ${field} to NotOlderThan`;
    throw invalid('meta.k8s.io', 'ListOptions', '', [forbiddenValue(field, why)]);
  }
  const tellsInitialEnd = isTrue(query, 'sendInitialEvents');
  return { since: tellsInitialEnd ? undefined : parseResourceVersion(query), tellsInitialEnd };
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
