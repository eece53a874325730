import type { KubeConfig } from '@kubernetes/client-node';

import type { BehaviourName } from '../../simulator/behaviour/behaviours.js';
import type { ClusterAuditEntry } from '../../simulator/cluster/audit.js';
import type { ClusterFact } from '../clusterFacts.js';

/** The cluster on which the reported case is replayed. */
export interface DemoCluster {
  /** For all clients of the run. */
  readonly kubeConfig: KubeConfig;
  /** The parts of a cluster that are not simulated beside it: it brings them itself, or nobody looks at them. */
  readonly skip: readonly BehaviourName[];
  /** What has happened to its NodeClaims, Nodes and pods so far, in order. */
  facts(): Promise<readonly ClusterFact[]>;
  /** All that was asked of its API server so far; undefined where its audit log is not ours to read. */
  auditEntries(): Promise<readonly ClusterAuditEntry[] | undefined>;
  /** Called when nothing of the run is at work there any more. */
  close(): Promise<void>;
}
