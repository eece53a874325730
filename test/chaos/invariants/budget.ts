import { readClusterFact } from '../../../demo/clusterFacts.js';
import type { Node, NodeClaim } from '../../../karpenter/api.js';
import { conditionTypes, getCondition, isTrue } from '../../../karpenter/conditions.js';
import { disruptedTaint, initializedLabel, nodePoolLabel } from '../../../karpenter/labels.js';
import type { Evidence, Violation } from '../evidence.js';

interface Count {
  readonly nodes: number;
  readonly disrupted: readonly string[];
}

/** Our own arithmetic: a percentage is rounded up. */
function allowedOf(budget: string, nodes: number): number {
  return budget.endsWith('%') ? Math.ceil((nodes * Number(budget.slice(0, -1))) / 100) : Number(budget);
}

function isDisrupted(nodeClaim: NodeClaim, node: Node): boolean {
  const isTainted = node.spec?.taints?.some(({ key }) => key === disruptedTaint) ?? false;
  const isNotReady = getCondition(node, conditionTypes.ready)?.status !== 'True';
  const isLeaving = nodeClaim.metadata.deletionTimestamp !== undefined || node.metadata.deletionTimestamp !== undefined;
  return isTainted || isNotReady || isLeaving;
}

function count(nodeClaims: ReadonlyMap<string, NodeClaim>, nodes: ReadonlyMap<string, Node>): Count {
  const disrupted: string[] = [];
  let total = 0;
  for (const [name, nodeClaim] of nodeClaims) {
    const node = nodes.get(nodeClaim.status?.nodeName ?? '');
    const counts =
      node?.metadata.labels?.[initializedLabel] === 'true' && !isTrue(nodeClaim, conditionTypes.instanceTerminating);
    if (!counts) continue;
    total += 1;
    if (isDisrupted(nodeClaim, node)) disrupted.push(name);
  }
  return { nodes: total, disrupted };
}

/** Invariant 1: disrupted nodes never exceed the budget, after any write of anybody. */
export function budgetViolations({ cluster, budget, nodePool, driftAtMs }: Evidence): Violation[] {
  const nodeClaims = new Map<string, NodeClaim>();
  const nodes = new Map<string, Node>();
  const violations: Violation[] = [];
  let wasExceeded = false;
  for (const entry of cluster) {
    const fact = readClusterFact(entry);
    if (fact?.kind === 'nodeClaim' && fact.nodeClaim.metadata.labels?.[nodePoolLabel] === nodePool) {
      if (fact.isGone) nodeClaims.delete(fact.nodeClaim.metadata.name);
      else nodeClaims.set(fact.nodeClaim.metadata.name, fact.nodeClaim);
    } else if (fact?.kind === 'node') {
      if (fact.isGone) nodes.delete(fact.node.metadata.name);
      else nodes.set(fact.node.metadata.name, fact.node);
    } else continue;
    if (entry.at < driftAtMs) continue;
    const { nodes: total, disrupted } = count(nodeClaims, nodes);
    const allowed = allowedOf(budget, total);
    const isExceeded = disrupted.length > allowed;
    if (isExceeded && !wasExceeded) {
      violations.push({
        invariant: 1,
        what: `${disrupted.length} of ${total} nodes disrupted, ${allowed} allowed by ${budget}, after ${entry.userAgent}: ${entry.verb} ${entry.resource} ${entry.name ?? ''}: ${disrupted.join(' ')}`,
        atMs: entry.at - driftAtMs,
      });
    }
    wasExceeded = isExceeded;
  }
  return violations;
}
