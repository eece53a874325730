import { conditionTypes, isTrue } from './conditions.js';
import type { ExpiryRule } from './disruptionReason.js';
import { disruptionOf } from './disruptionReason.js';
import type { NotNow, NotNowRules } from './notNow.js';
import { notNowWhy } from './notNow.js';
import type { Machine, Pool } from './pool.js';
import { isStatic } from './pool.js';
import { carriesControlPlane } from './controlPlanePods.js';
import { isReschedulable } from './pods.js';

/** What makes a candidate, and what keeps it waiting. */
export type CandidateRules = ExpiryRule & NotNowRules;

/** A NodeClaim that is to be replaced. */
export interface Candidate {
  readonly nodeClaim: string;
  readonly uid: string;
  readonly node: string;
  readonly reason: string;
  /** The condition's own reason, e.g. `ImageDrift`, or what a person said. */
  readonly reasonDetail: string;
  /** When the condition became true, ISO 8601; empty where nothing tells. */
  readonly since: string;
  /** No pod has to move: the node just goes. Never in a static pool, which keeps its number of nodes. */
  readonly isEmpty: boolean;
  /** Pods of Driftless or Temporal run on it. */
  readonly carriesControlPlane: boolean;
}

/** A candidate that cannot be replaced now. */
export interface BlockedCandidate extends NotNow {
  readonly nodeClaim: string;
  readonly uid: string;
  readonly reason: string;
  readonly reasonDetail: string;
}

/** No pod would have to find another node. */
export function isEmpty({ pods }: Machine): boolean {
  return !pods.some(isReschedulable);
}

/** What a pool asks for: who can be replaced, oldest reason first, and who can't yet. */
export function findCandidates(
  pool: Pool,
  rules: CandidateRules,
  atMs: number,
): { readonly candidates: readonly Candidate[]; readonly blocked: readonly BlockedCandidate[] } {
  const candidates: Candidate[] = [];
  const blocked: BlockedCandidate[] = [];
  for (const machine of pool.machines) {
    const disruption = disruptionOf(pool.nodePool, machine.nodeClaim, rules, atMs);
    // An instance that is terminating is already on its way out: nothing is left to decide.
    if (disruption === undefined || isTrue(machine.nodeClaim, conditionTypes.instanceTerminating)) continue;
    const { name: nodeClaim, uid } = machine.nodeClaim.metadata;
    const { reason, detail: reasonDetail, since } = disruption;
    const notNow = notNowWhy(pool, machine, disruption, rules, atMs);
    if (notNow !== undefined) {
      blocked.push({ nodeClaim, uid, reason, reasonDetail, ...notNow });
      continue;
    }
    candidates.push({
      nodeClaim,
      uid,
      node: machine.node?.metadata.name ?? '',
      reason,
      reasonDetail,
      since,
      isEmpty: isEmpty(machine) && !isStatic(pool.nodePool),
      carriesControlPlane: carriesControlPlane(machine.pods),
    });
  }
  // Where nothing tells since when, it was so from the beginning.
  const sinceMs = ({ since }: Candidate): number => (since === '' ? 0 : Date.parse(since));
  const byAge = (a: Candidate, b: Candidate): number =>
    sinceMs(a) - sinceMs(b) || a.nodeClaim.localeCompare(b.nodeClaim, 'en');
  return { candidates: candidates.sort(byAge), blocked };
}
