import { conditionTypes, isTrue } from '../karpenter/conditions.js';
import { carriesControlPlane } from '../karpenter/controlPlanePods.js';
import { disruptedTaint, nodePoolLabel, workflowAnnotation } from '../karpenter/labels.js';
import type { ClusterView } from '../karpenter/permits.js';
import type { ActivityEnvironment } from './environment.js';
import type { Grants } from './grants.js';

/**
 * What replacements of other pools leave of the cluster-wide cap: read from the cache and from what this worker has granted. The cap is
 * soft: workers that look at the same instant do not know of each other's grants.
 */
export function viewCluster(
  { nodes, nodeClaims, pods, settings }: ActivityEnvironment,
  grants: Grants,
  nodePool: string,
  atMs: number,
): ClusterView {
  const claims = nodeClaims.list();
  const terminating = new Set(
    claims
      .filter((nodeClaim) => isTrue(nodeClaim, conditionTypes.instanceTerminating))
      .map(({ status }) => status?.nodeName),
  );
  const tainted = nodes
    .list()
    .filter(
      ({ metadata, spec }) =>
        metadata.labels?.[nodePoolLabel] !== nodePool &&
        metadata.annotations?.[workflowAnnotation] !== undefined &&
        (spec?.taints ?? []).some(({ key }) => key === disruptedTaint),
    );
  const granted = new Set(grants.elsewhere(nodePool, atMs));
  const elsewhere = new Set([
    ...tainted.map(({ metadata }) => metadata.name),
    ...claims.filter(({ metadata }) => granted.has(metadata.name)).flatMap(({ status }) => status?.nodeName ?? []),
  ]);
  for (const name of terminating) if (name !== undefined) elsewhere.delete(name);
  return {
    room: settings.maxDisruptedNodes - elsewhere.size,
    movesControlPlane:
      elsewhere.size > 0 && carriesControlPlane(pods.list().filter(({ spec }) => elsewhere.has(spec.nodeName ?? ''))),
  };
}
