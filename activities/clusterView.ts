import { viewCluster } from '../karpenter/clusterView.js';
import type { ClusterView } from '../karpenter/permits.js';
import type { ActivityEnvironment } from './environment.js';

/**
 * What replacements of other pools leave of the cluster-wide cap. Read from the cache and raced for by the rollouts of all pools: the
 * cap is soft, and may be passed by what those that look at the same instant start.
 */
export function viewClusterFromCache(environment: ActivityEnvironment, nodePool: string): ClusterView {
  const { nodes, nodeClaims, pods, settings } = environment;
  const objects = { nodes: nodes.list(), nodeClaims: nodeClaims.list(), pods: pods.list() };
  return viewCluster(objects, nodePool, settings.maxDisruptedNodes);
}
