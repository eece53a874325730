import type { KubernetesObject } from './objects.js';

export type ClusterVerb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'evict' | 'bind';

/** One request that named a resource. A watch is noted when it starts. */
export interface ClusterAuditEntry {
  /** Wall-clock milliseconds since the epoch, with a fraction, when it was answered. */
  readonly at: number;
  readonly userAgent: string;
  readonly verb: ClusterVerb;
  readonly group: string;
  /** The plural. */
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  /** The HTTP status; 0 when the request was deliberately left without an answer. */
  readonly status: number;
  /** What a successful write left, or took away. Frozen. */
  readonly object?: KubernetesObject;
  /** This write made the object disappear. */
  readonly removed?: true;
  readonly latencyMs: number;
}
