import { conditionTypes, isTrue } from '../karpenter/conditions.js';
import { carriesControlPlane } from '../karpenter/controlPlanePods.js';
import { disruptedTaint, nodePoolLabel, workflowAnnotation } from '../karpenter/labels.js';
import type { ClusterView } from '../karpenter/permits.js';
import type { ActivityEnvironment } from './environment.js';

/**
 * What replacements of other pools leave of the cluster-wide cap. Read from the cache and raced for by the rollouts of all pools: the
 * cap is soft, and may be passed by what those that look at the same instant start.
 */
export function viewCluster(environment: ActivityEnvironment, nodePool: string): ClusterView {
  const { nodes, nodeClaims, pods, settings } = environment;
  const terminating = new Set(
    nodeClaims
      .list()
      .filter((nodeClaim) => isTrue(nodeClaim, conditionTypes.instanceTerminating))
      .map(({ status }) => status?.nodeName),
  );
  const elsewhere = nodes
    .list()
    .filter(
      ({ metadata, spec }) =>
        metadata.labels?.[nodePoolLabel] !== nodePool &&
        metadata.annotations?.[workflowAnnotation] !== undefined &&
        !terminating.has(metadata.name) &&
        (spec?.taints ?? []).some(({ key }) => key === disruptedTaint),
    );
  const names = new Set(elsewhere.map(({ metadata }) => metadata.name));
  return {
    room: settings.maxDisruptedNodes - elsewhere.length,
    movesControlPlane:
      names.size > 0 && carriesControlPlane(pods.list().filter(({ spec }) => names.has(spec.nodeName ?? ''))),
  };
}
