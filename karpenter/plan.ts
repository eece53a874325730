import type { Admission, AdmissionInput } from './admission.js';
import { admit, maxInFlight } from './admission.js';
import { allowedDisruptions, defaultBudgets, earliestMs } from './budget.js';
import type { BlockedCandidate, Candidate, CandidateRules } from './candidate.js';
import type { Offering } from './offering.js';
import { offeringOf } from './offering.js';
import type { ClusterView } from './permits.js';
import type { PlanDurations } from './planDurations.js';
import { estimateDurations } from './planDurations.js';
import type { ForecastStep, ReplacementTimes } from './planForecast.js';
import { PoolForecast } from './planForecast.js';
import type { Surge } from './planSurge.js';
import { createVcpuLookup, peakSurge } from './planSurge.js';
import type { Phase } from './phase.js';
import type { Machine, Pool } from './pool.js';
import type { PermitHolder, WaitsFor } from './waitsFor.js';
import { permitHolders, waitsFor } from './waitsFor.js';

/** What a plan depends on beside the pool. */
export interface PlanQuestion {
  /** The instant at which the rollout starts, epoch milliseconds. */
  readonly atMs: number;
  readonly rules: CandidateRules;
  readonly cluster: ClusterView;
  /** Nothing may be changed, for this reason in words for people. */
  readonly pausedWhy?: string | undefined;
}

/** One node that goes. */
export interface PlannedNode extends Candidate, ReplacementTimes {
  /** Its place in the order of starts, from 1. */
  readonly order: number;
  /** What it runs on; null: its labels do not say. */
  readonly before: Offering | null;
  /** The first offering that its replacement would try, the old node's own; null: nothing takes its place, or it is unknown. */
  readonly after: Offering | null;
  /** What the replacement takes; null: nothing tells. */
  readonly vcpus: number | null;
}

/** Those that start at the same instant. */
export interface Wave {
  /** From 1. */
  readonly number: number;
  readonly startsMs: number;
  /** The last of them gives its permit back. */
  readonly permitsFreeMs: number;
  /** The last old instance is gone. */
  readonly endsMs: number;
  readonly nodes: readonly PlannedNode[];
}

/** A replacement that is under way already. */
export interface NodeUnderWay extends ReplacementTimes {
  readonly nodeClaim: string;
  readonly phase: Phase;
  readonly replacement: string | null;
}

/** Whoever asks for a replacement and gets none in this plan, for no reason of its own. */
export interface Unplanned {
  readonly candidates: readonly Candidate[];
  /** What the first of them waits for; null: the pool is closed. */
  readonly waitsFor: WaitsFor | null;
  /** Who holds permits then. */
  readonly holders: readonly PermitHolder[];
}

/** What would happen to a pool, and when. */
export interface Plan {
  readonly atMs: number;
  readonly durations: PlanDurations;
  /** The first look, at the instant itself. */
  readonly admission: Admission;
  readonly underWay: readonly NodeUnderWay[];
  readonly waves: readonly Wave[];
  /** Who is blocked at the first look; some of them may stand in a later wave all the same. */
  readonly blocked: readonly BlockedCandidate[];
  readonly unplanned: Unplanned | null;
  readonly surge: Surge;
  /** The last old instance of all that is planned or under way is gone; null: nothing is. */
  readonly plannedEndsMs: number | null;
  /** The same, where nobody remains who is blocked or unplanned; null: nobody knows, or there is nothing to do. */
  readonly endsMs: number | null;
}

/** So many looks in a row at which nobody starts and nothing is under way: no later one will be different. */
const maxFruitlessLooks = 50;
/** So many edges of budgets are looked at for one that allows anything. */
const maxEdges = 1000;

/**
 * Moves a pool forward in time with the rollout's own decision, `admit`: a wave starts when permits come back, a window opens, or what
 * blocks a candidate ends. Only what the cluster shows is known: no pause, halt, backoff or skip.
 */
export function planPool(pool: Pool, { atMs, rules, cluster, pausedWhy }: PlanQuestion): Plan {
  const durations = estimateDurations(pool);
  const forecast = new PoolForecast(pool, durations, atMs);
  const inputAt = (nowMs: number): AdmissionInput => ({
    atMs: nowMs,
    inFlight: forecast.inFlight,
    first: new Set(),
    last: new Set(),
    held: new Set(),
    rules,
    cluster,
    pausedWhy,
  });
  const first = admit(forecast.pool, inputAt(atMs));
  const planner = new WavePlanner(pool, forecast);
  const waves: Wave[] = [];
  let admission = first;
  let nowMs = atMs;
  let fruitless = 0;
  for (;;) {
    if (admission.start.length > 0) waves.push(planner.plan(waves.length + 1, admission.start, nowMs));
    fruitless = admission.start.length > 0 || forecast.inFlight.size > 0 ? 0 : fruitless + 1;
    const nextMs = fruitless > maxFruitlessLooks ? null : nextLookMs(forecast, admission, nowMs);
    if (nextMs === null) break;
    nowMs = nextMs;
    forecast.advanceTo(nowMs);
    admission = admit(forecast.pool, inputAt(nowMs));
  }
  const unplanned = findUnplanned(forecast.pool, admission, cluster, nowMs);
  const isComplete = unplanned === null && admission.blocked.length === 0;
  const ends = [...forecast.underWay, ...waves.flatMap(({ nodes }) => nodes)].map(({ goneMs }) => goneMs);
  const plannedEndsMs = ends.length === 0 ? null : latest(ends);
  return {
    atMs,
    durations,
    admission: first,
    underWay: forecast.underWay.map(({ nodeClaim, phase, replacement, ...times }) => ({
      nodeClaim,
      phase,
      replacement: replacement ?? null,
      startsMs: times.startsMs,
      initializedMs: times.initializedMs,
      terminatingMs: times.terminatingMs,
      goneMs: times.goneMs,
    })),
    waves,
    blocked: first.blocked,
    unplanned,
    surge: peakSurge(planner.doubleTimes(waves, atMs)),
    plannedEndsMs,
    endsMs: isComplete ? plannedEndsMs : null,
  };
}

/** Not by spread: a large pool has more instants than a call takes arguments. */
function latest(instantsMs: readonly number[]): number {
  return instantsMs.reduce((a, b) => Math.max(a, b));
}

class WavePlanner {
  readonly #machines: ReadonlyMap<string, Machine>;
  readonly #vcpusOf: ReturnType<typeof createVcpuLookup>;
  #order = 0;

  constructor(
    pool: Pool,
    private readonly forecast: PoolForecast,
  ) {
    this.#machines = new Map(pool.machines.map((machine) => [machine.nodeClaim.metadata.uid, machine]));
    this.#vcpusOf = createVcpuLookup(pool);
  }

  plan(number: number, candidates: readonly Candidate[], startsMs: number): Wave {
    const nodes = candidates.flatMap((candidate) => {
      const machine = this.#machines.get(candidate.uid);
      return machine === undefined ? [] : [this.#planNode(candidate, machine, startsMs)];
    });
    return {
      number,
      startsMs,
      permitsFreeMs: latest(nodes.map(({ terminatingMs }) => terminatingMs)),
      endsMs: latest(nodes.map(({ goneMs }) => goneMs)),
      nodes,
    };
  }

  #planNode(candidate: Candidate, machine: Machine, startsMs: number): PlannedNode {
    this.#order += 1;
    const before = offeringOf(machine.nodeClaim) ?? null;
    const times = this.forecast.begin(machine, startsMs);
    return {
      ...candidate,
      order: this.#order,
      before,
      after: candidate.isEmpty ? null : before,
      vcpus: candidate.isEmpty ? 0 : this.#vcpusOf(machine.nodeClaim),
      ...times,
    };
  }

  doubleTimes(waves: readonly Wave[], atMs: number): Parameters<typeof peakSurge>[0] {
    const planned = waves
      .flatMap(({ nodes }) => nodes)
      .filter(({ isEmpty }) => !isEmpty)
      .map(({ startsMs, goneMs, vcpus }) => ({ fromMs: startsMs, toMs: goneMs, vcpus }));
    const underWay = this.forecast.underWay
      .filter(({ replacementMachine, initializedMs }) => replacementMachine !== undefined || initializedMs !== null)
      .map(({ machine, goneMs }) => ({ fromMs: atMs, toMs: goneMs, vcpus: this.#vcpusOf(machine.nodeClaim) }));
    return [...underWay, ...planned];
  }
}

/** When the answer can change next, epoch milliseconds; null: it will not, or nobody asks any more. */
function nextLookMs(forecast: PoolForecast, admission: Admission, nowMs: number): number | null {
  const { waiting, blocked, closed, budgetErrors } = admission;
  const isClosedForGood = closed !== undefined && budgetErrors.length === 0;
  if (isClosedForGood || (waiting.length === 0 && blocked.length === 0)) return null;
  const untilMs = blocked.flatMap((candidate) =>
    candidate.untilMs !== null && candidate.untilMs > nowMs ? [candidate.untilMs] : [],
  );
  return earliestMs([
    forecast.nextStepMs(stepsThatMatter(forecast, admission)),
    waiting.length > 0 ? nextOpeningMs(forecast, admission, nowMs) : null,
    ...untilMs,
  ]);
}

/** After which steps somebody may start who could not before: a look costs much in a large pool. */
function stepsThatMatter({ pool, inFlight }: PoolForecast, admission: Admission): ReadonlySet<ForecastStep> {
  const { limits, disruption } = pool.nodePool.spec;
  const { waiting, blocked } = admission;
  const isByPercent = (disruption?.budgets ?? defaultBudgets).some(({ nodes }) => nodes.endsWith('%'));
  const isHeldUntilGone =
    limits !== undefined ||
    inFlight.size >= maxInFlight ||
    waiting.some(({ carriesControlPlane }) => carriesControlPlane);
  const steps: ForecastStep[] = ['terminating'];
  if (blocked.length > 0 || isByPercent) steps.push('initialized');
  if (blocked.length > 0 || isHeldUntilGone) steps.push('gone');
  return new Set(steps);
}

/** The next edge of the budgets at which they allow anything to those that wait, epoch milliseconds. */
function nextOpeningMs({ pool }: PoolForecast, admission: Admission, nowMs: number): number | null {
  const reasons = [...new Set(admission.waiting.map(({ reason }) => reason))];
  const { budgets } = pool.nodePool.spec.disruption ?? {};
  const enough = Math.max(1, admission.disrupted.length);
  let edgeMs: number | null = nowMs;
  for (let edge = 0; edge < maxEdges; edge += 1) {
    const fromMs: number = edgeMs;
    edgeMs = earliestMs(
      reasons.map((reason) => allowedDisruptions(budgets, admission.nodes, reason, fromMs).nextChangeMs),
    );
    if (edgeMs === null) return null;
    const openMs: number = edgeMs;
    const isOpen = reasons.some(
      (reason) => (allowedDisruptions(budgets, admission.nodes, reason, openMs).allowed ?? Infinity) >= enough,
    );
    if (isOpen) return openMs;
  }
  return null;
}

function findUnplanned(pool: Pool, admission: Admission, cluster: ClusterView, atMs: number): Unplanned | null {
  const candidates = admission.waiting;
  const [candidate] = candidates;
  if (candidate === undefined) return null;
  if (admission.closed !== undefined) return { candidates, waitsFor: null, holders: [] };
  return {
    candidates,
    waitsFor: waitsFor(pool, admission, candidate, cluster, atMs),
    holders: permitHolders(pool, admission),
  };
}
