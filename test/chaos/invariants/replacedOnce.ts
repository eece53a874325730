import { readClusterFact } from '../../../demo/clusterFacts.js';
import type { NodeClaim } from '../../../karpenter/api.js';
import { conditionTypes, isTrue } from '../../../karpenter/conditions.js';
import { replacesAnnotation } from '../../../karpenter/labels.js';
import type { Evidence, Violation } from '../evidence.js';

/** Invariant 3: each drifted NodeClaim is replaced exactly once, and there are as many nodes as before. */
export function replacementViolations({ cluster, originals, nodePool, leftovers }: Evidence): Violation[] {
  const live = new Map<string, NodeClaim>();
  for (const entry of cluster) {
    const fact = readClusterFact(entry);
    if (fact?.kind !== 'nodeClaim') continue;
    if (fact.isGone) live.delete(fact.nodeClaim.metadata.name);
    else live.set(fact.nodeClaim.metadata.name, fact.nodeClaim);
  }
  const violations: Violation[] = [];
  const violated = (what: string): void => {
    violations.push({ invariant: 3, what, atMs: null });
  };
  for (const { name, uid } of originals) {
    if (live.get(name)?.metadata.uid === uid) {
      violated(`NodeClaim ${name} was not replaced`);
      continue;
    }
    const replacements = [...live.values()].filter(
      ({ metadata }) => metadata.annotations?.[replacesAnnotation] === uid,
    );
    const names = replacements.map(({ metadata }) => metadata.name).join(' ');
    if (replacements.length !== 1) violated(`NodeClaim ${name} has ${replacements.length} replacements: ${names}`);
    else if (!replacements.every((one) => isTrue(one, conditionTypes.initialized)))
      violated(`NodeClaim ${name} was replaced by ${names}, which is not Initialized`);
  }
  if (leftovers.nodes !== originals.length)
    violated(`NodePool ${nodePool} has ${leftovers.nodes} nodes, it had ${originals.length}`);
  return violations;
}
