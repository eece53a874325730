import type { Admission } from './admission.js';
import { maxInFlight } from './admission.js';
import type { Budget } from './api.js';
import { allowedDisruptions, defaultBudgets } from './budget.js';
import type { Candidate } from './candidate.js';
import type { ClusterView } from './permits.js';
import type { Pool } from './pool.js';
import { disruptedByOthersWhy, findUnderReplacement } from './underReplacement.js';

/** What keeps a candidate from its permit. */
export type WaitsFor =
  /** The budget of that place in the NodePool's list allows no more. */
  | { readonly kind: 'budget'; readonly index: number; readonly budget: Budget; readonly allowed: number }
  /** Nodes with Driftless' or Temporal's own pods go one at a time. */
  | { readonly kind: 'controlPlane' }
  /** So many nodes of this pool may be disrupted under the cluster-wide cap. */
  | { readonly kind: 'clusterCap'; readonly room: number }
  /** One rollout has so many in flight at the most. */
  | { readonly kind: 'inFlight'; readonly limit: number };

/** Who has a permit, or counts as if it had one. */
export interface PermitHolder {
  readonly nodeClaim: string;
  /** What goes on with it, in words for people: `phase Drain`, `its Node is not Ready`. */
  readonly why: string;
}

/**
 * What a waiting candidate waits for.
 * @param admission the answer that had it wait
 * @param atMs the instant of that answer
 */
export function waitsFor(
  pool: Pool,
  admission: Admission,
  candidate: Candidate,
  cluster: ClusterView,
  atMs: number,
): WaitsFor {
  const { budgets } = pool.nodePool.spec.disruption ?? {};
  const { allowed, bindingBudget } = allowedDisruptions(budgets, admission.nodes, candidate.reason, atMs);
  const disrupted = admission.disrupted.length + admission.start.length;
  const budget = bindingBudget === null ? undefined : (budgets ?? defaultBudgets)[bindingBudget];
  if (allowed !== null && bindingBudget !== null && budget !== undefined && disrupted >= allowed) {
    return { kind: 'budget', index: bindingBudget, budget, allowed };
  }
  if (candidate.carriesControlPlane) return { kind: 'controlPlane' };
  return disrupted >= cluster.room
    ? { kind: 'clusterCap', room: cluster.room }
    : { kind: 'inFlight', limit: maxInFlight };
}

/** Who of the pool counts as disrupted, and why. */
export function permitHolders(pool: Pool, admission: Admission): readonly PermitHolder[] {
  const underReplacement = new Map(findUnderReplacement(pool).map(({ nodeClaim, phase }) => [nodeClaim, phase]));
  const machines = new Map(pool.machines.map((machine) => [machine.nodeClaim.metadata.name, machine]));
  return admission.disrupted.flatMap((nodeClaim) => {
    const phase = underReplacement.get(nodeClaim);
    if (phase !== undefined) return [{ nodeClaim, why: `phase ${phase}` }];
    const machine = machines.get(nodeClaim);
    return machine === undefined ? [] : [{ nodeClaim, why: disruptedByOthersWhy(machine) }];
  });
}

/** In words for people, e.g. `spec.disruption.budgets[0] (10%) allows 2`. */
export function waitsForText(what: WaitsFor): string {
  switch (what.kind) {
    case 'budget':
      return `spec.disruption.budgets[${what.index}] (${budgetText(what.budget)}) allows ${what.allowed}`;
    case 'controlPlane':
      return "nodes with Driftless' or Temporal's own pods go one at a time, the last of all";
    case 'clusterCap':
      return `the cluster-wide cap leaves ${Math.max(0, what.room)} for this NodePool`;
    case 'inFlight':
      return `one rollout has ${what.limit} in flight at the most`;
  }
}

/** A budget in words for people: `5`, or `0 at "0 9 * * mon-fri" for 8h`. */
export function budgetText({ nodes, schedule, duration }: Budget): string {
  return schedule === undefined ? nodes : `${nodes} at "${schedule}" for ${duration ?? '0'}`;
}

/** `general-purpose-xk2lq (phase Drain)` */
export function permitHolderText({ nodeClaim, why }: PermitHolder): string {
  return `${nodeClaim} (${why})`;
}
