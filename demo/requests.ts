import type { ClusterAuditEntry } from '../simulator/cluster/audit.js';

/** How many requests each service made to the API server. */
export interface RequestCounts {
  readonly worker: number;
  readonly watcher: number;
}

/**
 * Counts requests by the API server's audit log, refused ones and watches included.
 * @param at wall-clock milliseconds: earlier ones do not count
 */
export function requestsSince(at: number, entries: readonly ClusterAuditEntry[]): RequestCounts {
  const count = (userAgent: string): number =>
    entries.filter((entry) => entry.at >= at && entry.userAgent === userAgent).length;
  return { worker: count('driftless/worker'), watcher: count('driftless/watcher') };
}
