import type { Node, NodeClaim, NodeClass, NodePool, Pod, PodDisruptionBudget } from '../../karpenter/api.js';
import { getCondition } from '../../karpenter/conditions.js';
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

export function nodeClaimDigest(nodePool: NodePool, nodeClaim: NodeClaim, rule: ExpiryRule, atMs: number): string {
  const disruption = disruptionOf(nodePool, nodeClaim, rule, atMs);
  return JSON.stringify([disruption?.reason, disruption?.detail, nodeClaim.metadata.deletionTimestamp]);
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

/** A pod counts only as far as it may stand against the disruption of a node. */
export function podDigest(pod: Pod): string {
  return JSON.stringify([protectionOf(pod), pod.status?.nominatedNodeName, pod.spec.nodeName]);
}

/** Only whether an eviction is allowed: how many are changes with each pod that moves. */
export function podDisruptionBudgetDigest(budget: PodDisruptionBudget): string {
  const { metadata, status } = budget;
  return JSON.stringify([metadata.generation, (status?.disruptionsAllowed ?? 0) > 0, hasEnoughHealthy(budget)]);
}
