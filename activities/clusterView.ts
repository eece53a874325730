import { viewCluster } from '../karpenter/clusterView.js';
import type { ClusterView } from '../karpenter/permits.js';
import type { ActivityEnvironment } from './environment.js';
import type { Grants } from './grants.js';

/**
 * What replacements of other pools leave of the cluster-wide cap: read from the cache and from what this worker has granted. The cap is
 * soft: workers that look at the same instant do not know of each other's grants.
 */
export function viewClusterFromCache(
  { nodes, nodeClaims, pods, settings }: ActivityEnvironment,
  grants: Grants,
  nodePool: string,
  atMs: number,
): ClusterView {
  const objects = { nodes: nodes.list(), nodeClaims: nodeClaims.list(), pods: pods.list() };
  return viewCluster(objects, nodePool, settings.maxDisruptedNodes, new Set(grants.elsewhere(nodePool, atMs)));
}
