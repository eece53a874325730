import type { Node, NodeClaim, Pod } from './api.js';
import { conditionTypes, isTrue } from './conditions.js';
import { carriesControlPlane } from './controlPlanePods.js';
import { disruptedTaint, nodePoolLabel, workflowAnnotation } from './labels.js';
import type { ClusterView } from './permits.js';

/** The whole cluster, all pools together. */
export interface ClusterObjects {
  readonly nodes: readonly Node[];
  readonly nodeClaims: readonly NodeClaim[];
  readonly pods: readonly Pod[];
}

/** Nothing is known of other pools, and no cap either. */
export const unboundedCluster: ClusterView = { room: Infinity, movesControlPlane: false };

/**
 * What replacements of other pools leave of the cluster-wide cap.
 * @param maxDisruptedNodes the cap: so many nodes of all pools together
 */
export function viewCluster(
  { nodes, nodeClaims, pods }: ClusterObjects,
  nodePool: string,
  maxDisruptedNodes: number,
): ClusterView {
  const terminating = new Set(
    nodeClaims
      .filter((nodeClaim) => isTrue(nodeClaim, conditionTypes.instanceTerminating))
      .map(({ status }) => status?.nodeName),
  );
  const elsewhere = nodes.filter(
    ({ metadata, spec }) =>
      metadata.labels?.[nodePoolLabel] !== nodePool &&
      metadata.annotations?.[workflowAnnotation] !== undefined &&
      !terminating.has(metadata.name) &&
      (spec?.taints ?? []).some(({ key }) => key === disruptedTaint),
  );
  const names = new Set(elsewhere.map(({ metadata }) => metadata.name));
  return {
    room: maxDisruptedNodes - elsewhere.length,
    movesControlPlane: names.size > 0 && carriesControlPlane(pods.filter(({ spec }) => names.has(spec.nodeName ?? ''))),
  };
}
