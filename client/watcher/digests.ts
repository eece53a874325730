import type { Node, NodeClaim, NodeClass, NodePool, Pod, PodDisruptionBudget } from '../../karpenter/api.js';
import { conditionTypes, getCondition, isTrue } from '../../karpenter/conditions.js';
import { disruptingWorkflow } from '../../karpenter/disruptionMark.js';
import { disruptionOf } from '../../karpenter/disruptionReason.js';
import type { ExpiryRule } from '../../karpenter/disruptionReason.js';
import { doNotDisruptAnnotation, initializedLabel } from '../../karpenter/labels.js';
import { hasEnoughHealthy } from '../../karpenter/podDisruptionBudgets.js';
import { protectionOf } from '../../karpenter/pods.js';

/**
 * Of each kind of object, what a rollout could decide on, as one text: an event that leaves it as it was wakes nobody. Heartbeats and
 * statuses change all the time.
 */

export function nodePoolDigest({ metadata, status }: NodePool): string {
  const { generation, annotations, deletionTimestamp } = metadata;
  return JSON.stringify([generation, annotations, deletionTimestamp, getCondition({ status }, 'Ready')?.status]);
}

export function nodeClassDigest({ metadata, status }: NodeClass): string {
  return JSON.stringify([
    metadata.deletionTimestamp,
    getCondition({ status }, 'Ready')?.status,
    status?.images?.[0]?.id,
  ]);
}

/** How far the deletion of a node has come that we replace, its replacement tells: it counts as disrupted all the while. */
export function nodeClaimDigest(nodePool: NodePool, nodeClaim: NodeClaim, rule: ExpiryRule, atMs: number): string {
  const disruption = disruptionOf(nodePool, nodeClaim, rule, atMs);
  const isOurs = disruptingWorkflow(nodeClaim) !== undefined;
  return JSON.stringify([
    disruption?.reason,
    disruption?.detail,
    isOurs ? undefined : nodeClaim.metadata.deletionTimestamp,
    !isOurs && isTrue(nodeClaim, conditionTypes.instanceTerminating),
  ]);
}

/** A node that is not Initialized counts for nothing yet, whether it is Ready or not. */
export function nodeDigest({ metadata, status }: Node): string {
  const isInitialized = metadata.labels?.[initializedLabel] === 'true';
  return JSON.stringify([
    metadata.annotations?.[doNotDisruptAnnotation],
    metadata.deletionTimestamp,
    isInitialized ? getCondition({ status }, 'Ready')?.status : 'NotInitialized',
  ]);
}

/** A pod counts only while it may stand against the disruption of a node: that others come and go tells nothing. */
export function podDigest(pod: Pod): string {
  return isInTheWay(pod)
    ? JSON.stringify([protectionOf(pod), pod.status?.nominatedNodeName, pod.spec.nodeName])
    : 'NotInTheWay';
}

/** It may not be disrupted, or is promised to a node. */
export function isInTheWay(pod: Pod): boolean {
  return protectionOf(pod).kind !== 'none' || pod.status?.nominatedNodeName !== undefined;
}

/** Only whether an eviction is allowed: how many are changes with each pod that moves. */
export function podDisruptionBudgetDigest(budget: PodDisruptionBudget): string {
  const { metadata, status } = budget;
  return JSON.stringify([metadata.generation, (status?.disruptionsAllowed ?? 0) > 0, hasEnoughHealthy(budget)]);
}
