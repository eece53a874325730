import { readClusterFact } from '../../demo/clusterFacts.js';
import type { ClusterFact } from '../../demo/clusterFacts.js';
import type { Node, NodeClaim } from '../../karpenter/api.js';
import { conditionTypes, isTrue } from '../../karpenter/conditions.js';
import { disruptedTaint, waitingTaint, workflowAnnotation } from '../../karpenter/labels.js';
import type { ClusterSimulator } from '../../simulator/cluster/clusterSimulator.js';

/** The cluster as one write has left it. The maps go on changing with the next one. */
export interface Moment {
  readonly fact: ClusterFact;
  readonly nodeClaims: ReadonlyMap<string, NodeClaim>;
  readonly nodes: ReadonlyMap<string, Node>;
}

/** Replays the audit log: every moment at which something was written that tests ask about, the first one first. */
export function* momentsOf({ audit }: ClusterSimulator): Generator<Moment> {
  const nodeClaims = new Map<string, NodeClaim>();
  const nodes = new Map<string, Node>();
  for (const entry of audit.entries) {
    const fact = readClusterFact(entry);
    if (fact === undefined) continue;
    if (fact.kind === 'nodeClaim') put(nodeClaims, fact.nodeClaim, fact.isGone);
    if (fact.kind === 'node') put(nodes, fact.node, fact.isGone);
    yield { fact, nodeClaims, nodes };
  }
}

function put<T extends { readonly metadata: { readonly name: string } }>(
  objects: Map<string, T>,
  object: T,
  isGone: boolean,
): void {
  if (isGone) objects.delete(object.metadata.name);
  else objects.set(object.metadata.name, object);
}

export function hasTaint({ spec }: Node, key: string): boolean {
  return spec?.taints?.some((taint) => taint.key === key) ?? false;
}

/** NodeClaims that are drifted and in nobody's hands: their nodes wait for their replacement. */
export function waitingNodes({ nodeClaims, nodes }: Moment): Node[] {
  return [...nodeClaims.values()]
    .filter((nodeClaim) => isTrue(nodeClaim, conditionTypes.drifted) && !nodeClaim.metadata.deletionTimestamp)
    .flatMap(({ status }) => nodes.get(status?.nodeName ?? '') ?? [])
    .filter((node) => !hasTaint(node, disruptedTaint));
}

/** Names of the nodes that carry the soft taint. */
export function markedNodes({ nodes }: Moment): string[] {
  return [...nodes.values()].filter((node) => hasTaint(node, waitingTaint)).map(({ metadata }) => metadata.name);
}

/** Names of the nodes that we disrupt: tainted by us, and their instance is not terminating yet. */
export function disruptedByUs({ nodeClaims, nodes }: Moment): string[] {
  const terminating = new Set(
    [...nodeClaims.values()]
      .filter((nodeClaim) => isTrue(nodeClaim, conditionTypes.instanceTerminating))
      .map(({ status }) => status?.nodeName),
  );
  return [...nodes.values()]
    .filter(({ metadata }) => metadata.annotations?.[workflowAnnotation] !== undefined)
    .filter((node) => hasTaint(node, disruptedTaint) && !terminating.has(node.metadata.name))
    .map(({ metadata }) => metadata.name);
}
