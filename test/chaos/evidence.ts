import type { AzureAuditEntry } from '../../simulator/azure/audit.js';
import type { ClusterAuditEntry } from '../../simulator/cluster/audit.js';
import type { Leftovers } from './leftovers.js';
import type { Outage } from './services.js';

/** All that is known of a run when it has ended: what the invariants are checked by. Instants are wall-clock milliseconds. */
export interface Evidence {
  readonly nodePool: string;
  /** As the NodePool says it: a number or a percentage. */
  readonly budget: string;
  /** The NodeClaims that were to be replaced. */
  readonly originals: readonly { readonly name: string; readonly uid: string }[];
  /** Pods of the workload that its PodDisruptionBudget wants to see ready. */
  readonly podsAtLeast: number;
  readonly driftAtMs: number;
  readonly azure: readonly AzureAuditEntry[];
  readonly cluster: readonly ClusterAuditEntry[];
  readonly outages: readonly Outage[];
  readonly leftovers: Leftovers;
  /** How much slower this machine is than one that has nothing else to do; at least 1. */
  readonly slowness: number;
  /** How often Azure asks to be polled, and the longest wait between two polls after refusals. */
  readonly pollIntervalMs: number;
  readonly longestPollDelayMs: number;
}

/** The numbers of the design's invariants. */
export type Invariant = 1 | 2 | 3 | 4 | 5 | 6;

export interface Violation {
  readonly invariant: Invariant;
  readonly what: string;
  /** Milliseconds since the drift; null: at the end. */
  readonly atMs: number | null;
}
