import { readClusterFact } from '../../../demo/clusterFacts.js';
import type { NodeClaim } from '../../../karpenter/api.js';
import { conditionTypes, isTrue } from '../../../karpenter/conditions.js';
import { replacesAnnotation } from '../../../karpenter/labels.js';
import { fieldAt, textAt } from '../../../simulator/cluster/objects.js';
import type { Evidence, Violation } from '../evidence.js';

/** Invariant 2: no pod is evicted from a node whose replacement is not there and Initialized at that instant. */
export function evictionViolations({ cluster, driftAtMs }: Evidence): Violation[] {
  const nodeClaims = new Map<string, NodeClaim>();
  const nodeOfPod = new Map<string, string>();
  const violations: Violation[] = [];
  for (const entry of cluster) {
    const fact = readClusterFact(entry);
    if (fact?.kind === 'nodeClaim') {
      if (fact.isGone) nodeClaims.delete(fact.nodeClaim.metadata.name);
      else nodeClaims.set(fact.nodeClaim.metadata.name, fact.nodeClaim);
    }
    if (entry.resource !== 'pods' || entry.status >= 300) continue;
    const pod = `${entry.namespace ?? ''}/${entry.name ?? ''}`;
    const boundTo = textAt(fieldAt(entry.object, 'spec'), 'nodeName');
    if (boundTo !== '') nodeOfPod.set(pod, boundTo);
    if (fact?.kind !== 'podEvicted') continue;
    const node = nodeOfPod.get(pod);
    const old = [...nodeClaims.values()].find(({ status }) => status?.nodeName === node);
    const replacement = [...nodeClaims.values()].find(
      (other) =>
        other.metadata.annotations?.[replacesAnnotation] === old?.metadata.uid &&
        other.metadata.deletionTimestamp === undefined &&
        isTrue(other, conditionTypes.initialized),
    );
    if (old !== undefined && replacement !== undefined) continue;
    violations.push({
      invariant: 2,
      what: `pod ${pod} evicted from Node ${String(node)} (NodeClaim ${old?.metadata.name ?? 'unknown'}) without an Initialized replacement`,
      atMs: entry.at - driftAtMs,
    });
  }
  return violations;
}
