import { allowedDisruptions, earliestMs } from './budget.js';
import type { BudgetError } from './budget.js';
import type { BlockedCandidate, Candidate, CandidateRules } from './candidate.js';
import { findCandidates } from './candidate.js';
import { orderCandidates } from './candidateOrder.js';
import { expiryDueMs } from './disruptionReason.js';
import { workflowAnnotation } from './labels.js';
import { LimitsLedger } from './limits.js';
import type { NotNow } from './notNow.js';
import type { ClusterView } from './permits.js';
import { Permits } from './permits.js';
import type { PhaseRow } from './phase.js';
import { readPhases } from './phase.js';
import type { Pool } from './pool.js';
import { isTainted, takeCensus } from './pool.js';
import { poolClosedWhy } from './poolClosed.js';
import type { MarkChange } from './waitingMark.js';
import { findMarkChanges } from './waitingMark.js';

/** At most so many children of one rollout are in flight, far below Temporal's limit of 2,000. */
export const maxInFlight = 500;

/** What the rollout knows that the cluster does not show. */
export interface AdmissionInput {
  /** The instant of the decision, epoch milliseconds: budgets have windows. */
  readonly atMs: number;
  /** Names of the NodeClaims that a running workflow replaces. */
  readonly inFlight: ReadonlySet<string>;
  /** UIDs that people asked to be tried again: they go first. */
  readonly first: ReadonlySet<string>;
  /** UIDs that failed before: they go to the end of the line. */
  readonly last: ReadonlySet<string>;
  /** UIDs that wait for a person, or were skipped by one: they get no permit. */
  readonly held: ReadonlySet<string>;
  readonly rules: CandidateRules;
  readonly cluster: ClusterView;
  /** Why nothing may be changed in the whole cluster, if that is so. */
  readonly pausedWhy?: string | undefined;
}

/** What the budgets allow for one reason; null: no budget bounds it. */
export interface ReasonAllowance {
  readonly reason: string;
  readonly allowed: number | null;
  /** Index of the budget that sets the bound. */
  readonly bindingBudget: number | null;
}

/** What may start now, and what waits for what. */
export interface Admission {
  readonly nodes: number;
  readonly disrupted: readonly string[];
  readonly allowances: readonly ReasonAllowance[];
  readonly budgetErrors: readonly BudgetError[];
  /** When a budget's window opens or ends next, epoch milliseconds; null: not within five years. */
  readonly nextChangeMs: number | null;
  /** The next instant at which the answer can change by the passing of time alone, epoch milliseconds; null: none is known. */
  readonly nextLookMs: number | null;
  /** Never more than there are permits. */
  readonly start: readonly Candidate[];
  /** Could start, but no permit is free. */
  readonly waiting: readonly Candidate[];
  readonly blocked: readonly BlockedCandidate[];
  readonly markChanges: readonly MarkChange[];
  readonly phases: readonly PhaseRow[];
  /** Somebody waits only for what goes on in other pools. */
  readonly isCapped: boolean;
  /** Why the whole pool is left alone, if it is. */
  readonly closed: string | undefined;
}

/** Nodes that a replacement of ours left tainted, e.g. one that was terminated: they count as disrupted already. */
function findLeftovers({ machines }: Pool): ReadonlySet<string> {
  const left = machines.filter(
    (machine) => isTainted(machine) && machine.node?.metadata.annotations?.[workflowAnnotation] !== undefined,
  );
  return new Set(left.map(({ nodeClaim }) => nodeClaim.metadata.uid));
}

/** The one decision of a rollout, computed from one view of the pool: nobody is admitted beyond the budget. */
export function admit(pool: Pool, input: AdmissionInput): Admission {
  const census = takeCensus(pool, input.inFlight);
  const { candidates, blocked: notNow } = findCandidates(pool, input.rules, input.atMs);
  const reasons = [...new Set(['Drifted', ...candidates.map(({ reason }) => reason)])];
  const budgets = pool.nodePool.spec.disruption?.budgets;
  const allowances = reasons.map((reason) => ({
    reason,
    ...allowedDisruptions(budgets, census.nodes, reason, input.atMs),
  }));
  const budgetErrors = allowances[0]?.errors ?? [];
  const closed = input.pausedWhy ?? poolClosedWhy(pool, budgetErrors);
  const idle = candidates.filter(({ nodeClaim, uid }) => !input.inFlight.has(nodeClaim) && !input.held.has(uid));
  const line = orderCandidates(idle, input);
  const blocked = notNow.filter((candidate) => !input.inFlight.has(candidate.nodeClaim));

  const permits = new Permits({
    pool,
    inFlight: input.inFlight,
    disrupted: census.disrupted.length,
    onlyNotReady: new Set(census.onlyNotReady),
    room: closed === undefined ? Math.max(0, maxInFlight - input.inFlight.size) : 0,
    allowedFor: (reason) => allowances.find((allowance) => allowance.reason === reason)?.allowed ?? Infinity,
    leftovers: findLeftovers(pool),
    limits: new LimitsLedger(pool, input.inFlight),
    cluster: input.cluster,
  });
  const machines = new Map(pool.machines.map((machine) => [machine.nodeClaim.metadata.uid, machine]));
  const start: Candidate[] = [];
  const waiting: Candidate[] = [];
  for (const candidate of line) {
    const machine = machines.get(candidate.uid);
    if (machine === undefined) continue;
    const answer = permits.ask(candidate, machine);
    switch (answer.kind) {
      case 'start':
        start.push(candidate);
        break;
      case 'wait':
        waiting.push(candidate);
        break;
      case 'blocked':
        blocked.push({ ...pick(candidate), ...answer.notNow });
    }
  }
  const nextChangeMs = earliestMs(allowances.map((allowance) => allowance.nextChangeMs));
  return {
    nodes: census.nodes,
    disrupted: census.disrupted,
    allowances: allowances.map(({ reason, allowed, bindingBudget }) => ({ reason, allowed, bindingBudget })),
    budgetErrors,
    nextChangeMs,
    nextLookMs: earliestMs([
      waiting.length > 0 ? nextChangeMs : null,
      ...blocked.map(({ untilMs }) => untilMs),
      nextExpiryMs(pool, input),
    ]),
    start,
    waiting,
    blocked,
    // In a pool that is left alone nobody is marked.
    markChanges: findMarkChanges(
      pool,
      new Set(closed === undefined ? waiting.map(({ uid }) => uid) : []),
      new Set([...input.inFlight, ...start.map(({ nodeClaim }) => nodeClaim)]),
    ),
    phases: readPhases(pool, input.inFlight),
    isCapped: permits.isCapped,
    closed,
  };
}

function pick({ nodeClaim, uid, reason, reasonDetail }: Candidate): Omit<BlockedCandidate, keyof NotNow> {
  return { nodeClaim, uid, reason, reasonDetail };
}

/** When the next node of the pool begins to expire, epoch milliseconds. */
function nextExpiryMs({ machines }: Pool, { rules, atMs }: AdmissionInput): number | null {
  const dueMs = machines.map(({ nodeClaim }) => expiryDueMs(nodeClaim, rules));
  return earliestMs(dueMs.flatMap((instantMs) => (instantMs === undefined || instantMs <= atMs ? [] : [instantMs])));
}
