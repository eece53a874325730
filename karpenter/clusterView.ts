import type { Node, NodeClaim, Pod } from './api.js';
import { conditionTypes, isTrue } from './conditions.js';
import { carriesControlPlane } from './controlPlanePods.js';
import { disruptedTaint, nodePoolLabel, workflowAnnotation } from './labels.js';
import type { ClusterView } from './permits.js';
import { hasTaint } from './taints.js';

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
 * @param granted names of NodeClaims of other pools that were let start, whose taint may not show yet
 */
export function viewCluster(
  { nodes, nodeClaims, pods }: ClusterObjects,
  nodePool: string,
  maxDisruptedNodes: number,
  granted: ReadonlySet<string> = new Set(),
): ClusterView {
  const tainted = nodes.filter(
    (node) =>
      node.metadata.labels?.[nodePoolLabel] !== nodePool &&
      node.metadata.annotations?.[workflowAnnotation] !== undefined &&
      hasTaint(node, disruptedTaint),
  );
  const elsewhere = new Set([
    ...tainted.map(({ metadata }) => metadata.name),
    ...nodeClaims.filter(({ metadata }) => granted.has(metadata.name)).flatMap(({ status }) => status?.nodeName ?? []),
  ]);
  for (const nodeClaim of nodeClaims) {
    const { nodeName } = nodeClaim.status ?? {};
    if (nodeName !== undefined && isTrue(nodeClaim, conditionTypes.instanceTerminating)) elsewhere.delete(nodeName);
  }
  return {
    room: maxDisruptedNodes - elsewhere.size,
    movesControlPlane:
      elsewhere.size > 0 && carriesControlPlane(pods.filter(({ spec }) => elsewhere.has(spec.nodeName ?? ''))),
  };
}
