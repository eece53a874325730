import { conditionTypes, getCondition, isTrue } from './conditions.js';
import { doNotDisruptAnnotation } from './labels.js';
import type { Machine, Pool } from './pool.js';
import { isDeleting, isInitialized } from './pool.js';

/** Why a node is to be replaced: a disruption condition of its NodeClaim. */
export const disruptionReasons: readonly string[] = [conditionTypes.drifted];

/** A NodeClaim that is to be replaced. */
export interface Candidate {
  readonly nodeClaim: string;
  readonly uid: string;
  readonly node: string;
  readonly reason: string;
  /** The condition's own reason, e.g. `ImageDrift`. */
  readonly reasonDetail: string;
  /** When the condition became true, ISO 8601. */
  readonly since: string;
}

/** A candidate that cannot be replaced now, and why, in words for people. */
export interface BlockedCandidate {
  readonly nodeClaim: string;
  readonly uid: string;
  readonly why: string;
}

/** The first disruption reason that holds for the NodeClaim. */
export function disruptionReasonOf(machine: Machine): string | undefined {
  return disruptionReasons.find((reason) => isTrue(machine.nodeClaim, reason));
}

/** Why this candidate cannot be replaced now, or undefined when it can. */
export function blockedWhy(machine: Machine): string | undefined {
  if (isDeleting(machine)) return 'it is being deleted already';
  if (machine.node === undefined) return 'it has no Node yet';
  if (!isInitialized(machine)) return 'its Node is not initialized yet';
  // Exactly `true`: Karpenter ignores any other value on a node.
  if (machine.node.metadata.annotations?.[doNotDisruptAnnotation] === 'true') {
    return `its Node is annotated ${doNotDisruptAnnotation}`;
  }
  return undefined;
}

/** What a pool asks for: who can be replaced, oldest reason first, and who can't yet. */
export function findCandidates(pool: Pool): {
  readonly candidates: readonly Candidate[];
  readonly blocked: readonly BlockedCandidate[];
} {
  const candidates: Candidate[] = [];
  const blocked: BlockedCandidate[] = [];
  for (const machine of pool.machines) {
    const reason = disruptionReasonOf(machine);
    // An instance that is terminating is already on its way out: nothing is left to decide.
    if (reason === undefined || isTrue(machine.nodeClaim, conditionTypes.instanceTerminating)) continue;
    const { name, uid } = machine.nodeClaim.metadata;
    const why = blockedWhy(machine);
    if (why !== undefined || machine.node === undefined) {
      blocked.push({ nodeClaim: name, uid, why: why ?? 'it has no Node yet' });
      continue;
    }
    const condition = getCondition(machine.nodeClaim, reason);
    candidates.push({
      nodeClaim: name,
      uid,
      node: machine.node.metadata.name,
      reason,
      reasonDetail: condition?.reason ?? reason,
      since: condition?.lastTransitionTime ?? '',
    });
  }
  candidates.sort((a, b) => a.since.localeCompare(b.since, 'en') || a.nodeClaim.localeCompare(b.nodeClaim, 'en'));
  return { candidates, blocked };
}
