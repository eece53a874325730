import type { Admission, ReasonAllowance } from './admission.js';
import type { BudgetError } from './budget.js';
import type { BlockedCandidate, Candidate } from './candidate.js';
import type { PhaseRow } from './phase.js';

/** The first of many, and how many there are: a report has to stay small whatever the size of the pool. */
export interface Excerpt<T> {
  readonly count: number;
  readonly first: readonly T[];
}

/** An admission as a rollout keeps it in its history. */
export interface AdmissionReport {
  readonly nodes: number;
  readonly disrupted: number;
  /** Of these, the ones that no replacement of this rollout accounts for. */
  readonly disruptedByOthers: number;
  readonly allowances: readonly ReasonAllowance[];
  readonly budgetErrors: readonly BudgetError[];
  readonly nextChangeMs: number | null;
  readonly nextLookMs: number | null;
  readonly start: readonly Candidate[];
  readonly waiting: Excerpt<Candidate>;
  readonly blocked: Excerpt<BlockedCandidate>;
  readonly phases: Excerpt<PhaseRow>;
  /** How many nodes have the soft taint and should not, or should and have not. */
  readonly markChanges: number;
  /** Somebody waits only for what goes on in other pools. */
  readonly isCapped: boolean;
  readonly closed: string | null;
}

/** As many rows as people read on a page. */
const maxRows = 50;

function excerpt<T>(all: readonly T[]): Excerpt<T> {
  return { count: all.length, first: all.slice(0, maxRows) };
}

/** @param inFlight names of the NodeClaims that the rollout replaces */
export function reportAdmission(admission: Admission, inFlight: ReadonlySet<string>): AdmissionReport {
  const { disrupted, start, waiting, blocked, phases, markChanges, closed, ...rest } = admission;
  const starting = new Set(start.map(({ nodeClaim }) => nodeClaim));
  return {
    ...rest,
    disrupted: disrupted.length,
    disruptedByOthers: disrupted.filter((name) => !inFlight.has(name) && !starting.has(name)).length,
    start,
    waiting: excerpt(waiting),
    blocked: excerpt(blocked),
    phases: excerpt(phases),
    markChanges: markChanges.length,
    closed: closed ?? null,
  };
}
