import type { Candidate } from './candidate.js';
import { carriesControlPlane } from './controlPlanePods.js';
import { unhealthyReason } from './disruptionReason.js';
import type { LimitsLedger } from './limits.js';
import type { NotNow } from './notNow.js';
import type { Machine, Pool } from './pool.js';
import { isTainted } from './pool.js';

/** What is going on in the cluster's other pools. */
export interface ClusterView {
  /** How many nodes may be disrupted under the cluster-wide cap, other pools' taken off, this pool's own not yet. */
  readonly room: number;
  /** A node with Driftless' or Temporal's own pods is being replaced in another pool. */
  readonly movesControlPlane: boolean;
}

export type Answer =
  | { readonly kind: 'start' }
  /** No permit is free. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'blocked'; readonly notNow: NotNow };

export interface PermitsInput {
  readonly pool: Pool;
  /** Names of the NodeClaims that a running workflow replaces. */
  readonly inFlight: ReadonlySet<string>;
  /** How many nodes are disrupted already. */
  readonly disrupted: number;
  /** Names of the NodeClaims among them that nobody disrupts: their Nodes are only not ready. */
  readonly onlyNotReady: ReadonlySet<string>;
  /** At most so many may start now, whatever the budgets say. */
  readonly room: number;
  /** What the budgets allow for a reason; Infinity: nothing bounds it. */
  readonly allowedFor: (reason: string) => number;
  /** UIDs of nodes that count as disrupted already: to take them up needs no permit. */
  readonly leftovers: ReadonlySet<string>;
  readonly limits: LimitsLedger;
  readonly cluster: ClusterView;
}

/** Hands out what budgets, limits and the cluster-wide cap leave, to one candidate after the other. */
export class Permits {
  #started = 0;
  #taken = 0;
  /** Started, and counted as disrupted before: they were not ready. */
  #repaired = 0;
  #movesControlPlane: boolean;
  #isCapped = false;

  constructor(private readonly input: PermitsInput) {
    const { pool, inFlight, cluster } = input;
    const isMoving = (machine: Machine): boolean => inFlight.has(machine.nodeClaim.metadata.name) || isTainted(machine);
    this.#movesControlPlane =
      cluster.movesControlPlane ||
      pool.machines.some((machine) => isMoving(machine) && carriesControlPlane(machine.pods));
  }

  /** Somebody waits only for what goes on in other pools. */
  get isCapped(): boolean {
    return this.#isCapped;
  }

  /** Whether this candidate may start, all those before it provided for. */
  ask(candidate: Candidate, machine: Machine): Answer {
    const { limits, leftovers, onlyNotReady, room, allowedFor, cluster } = this.input;
    const noRoom = candidate.isEmpty ? undefined : limits.refusal(machine);
    if (noRoom !== undefined) return { kind: 'blocked', notNow: noRoom };
    const needed = leftovers.has(candidate.uid) ? 0 : 1;
    const disrupted = this.#disruptedFor(candidate.reason) + needed;
    if (this.#started >= room || disrupted > allowedFor(candidate.reason)) return { kind: 'wait' };
    if (needed > 0 && disrupted > cluster.room) return this.#refuseForOthers();
    if (candidate.carriesControlPlane && this.#movesControlPlane) {
      return cluster.movesControlPlane ? this.#refuseForOthers() : { kind: 'wait' };
    }
    this.#started += 1;
    if (onlyNotReady.has(candidate.nodeClaim)) this.#repaired += 1;
    else this.#taken += needed;
    this.#movesControlPlane ||= candidate.carriesControlPlane;
    if (!candidate.isEmpty) limits.reserve(machine);
    return { kind: 'start' };
  }

  /** As Karpenter's NodePoolStats: what a repair is for does not count against repairs, but against everything else. */
  #disruptedFor(reason: string): number {
    const { disrupted, onlyNotReady } = this.input;
    return disrupted + this.#taken + (reason === unhealthyReason ? this.#repaired - onlyNotReady.size : 0);
  }

  #refuseForOthers(): Answer {
    this.#isCapped = true;
    return { kind: 'wait' };
  }
}
