import { allowedDisruptions, earliestMs } from './budget.js';
import type { BudgetError } from './budget.js';
import type { BlockedCandidate, Candidate } from './candidate.js';
import { disruptionReasons, findCandidates } from './candidate.js';
import { managedAnnotation, workflowAnnotation } from './labels.js';
import type { PhaseRow } from './phase.js';
import { readPhases } from './phase.js';
import type { Pool } from './pool.js';
import { isTainted, takeCensus } from './pool.js';

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
  /** UIDs that wait for a person: they get no permit. */
  readonly held: ReadonlySet<string>;
}

/** What the budgets allow for one reason; null: no budget bounds it. */
export interface ReasonAllowance {
  readonly reason: string;
  readonly allowed: number | null;
}

/** What may start now, and what waits for what. */
export interface Admission {
  readonly nodes: number;
  readonly disrupted: readonly string[];
  readonly allowances: readonly ReasonAllowance[];
  readonly budgetErrors: readonly BudgetError[];
  /** When a budget's window opens or ends next, epoch milliseconds; null: not within five years. */
  readonly nextChangeMs: number | null;
  /** Never more than there are permits. */
  readonly start: readonly Candidate[];
  /** Could start, but no permit is free. */
  readonly waiting: readonly Candidate[];
  readonly blocked: readonly BlockedCandidate[];
  readonly phases: readonly PhaseRow[];
  /** Why the whole pool is left alone, if it is. */
  readonly closed: string | undefined;
}

function rank(candidate: Candidate, input: AdmissionInput): number {
  if (input.first.has(candidate.uid)) return 0;
  return input.last.has(candidate.uid) ? 2 : 1;
}

function closedWhy(pool: Pool, budgetErrors: readonly BudgetError[]): string | undefined {
  const { name, annotations, deletionTimestamp } = pool.nodePool.metadata;
  if (deletionTimestamp !== undefined) return `NodePool ${name} is being deleted`;
  if (annotations?.[managedAnnotation] !== 'true')
    return `NodePool ${name} is not annotated ${managedAnnotation}: "true"`;
  const [error] = budgetErrors;
  if (error === undefined) return undefined;
  return `NodePool ${name}: spec.disruption.budgets[${error.index}].${error.field} "${error.text}": ${error.message}`;
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
  const { candidates, blocked } = findCandidates(pool);
  const budgets = pool.nodePool.spec.disruption?.budgets;
  const allowances = disruptionReasons.map((reason) => ({
    reason,
    ...allowedDisruptions(budgets, census.nodes, reason, input.atMs),
  }));
  const budgetErrors = allowances[0]?.errors ?? [];
  const closed = closedWhy(pool, budgetErrors);
  const room = closed === undefined ? Math.max(0, maxInFlight - input.inFlight.size) : 0;
  const line = candidates
    .filter((candidate) => !input.inFlight.has(candidate.nodeClaim) && !input.held.has(candidate.uid))
    .sort((a, b) => rank(a, input) - rank(b, input));
  const leftovers = findLeftovers(pool);
  const start: Candidate[] = [];
  const waiting: Candidate[] = [];
  let permitsTaken = 0;
  for (const candidate of line) {
    const allowed = allowances.find(({ reason }) => reason === candidate.reason)?.allowed ?? Infinity;
    const permitsNeeded = leftovers.has(candidate.uid) ? 0 : 1;
    const isAdmitted = start.length < room && census.disrupted.length + permitsTaken + permitsNeeded <= allowed;
    (isAdmitted ? start : waiting).push(candidate);
    if (isAdmitted) permitsTaken += permitsNeeded;
  }
  return {
    nodes: census.nodes,
    disrupted: census.disrupted,
    allowances: allowances.map(({ reason, allowed }) => ({ reason, allowed })),
    budgetErrors,
    nextChangeMs: earliestMs(allowances.map(({ nextChangeMs }) => nextChangeMs)),
    start,
    waiting,
    blocked: blocked.filter((candidate) => !input.inFlight.has(candidate.nodeClaim)),
    phases: readPhases(pool, input.inFlight),
    closed,
  };
}
