import { ApplicationFailure } from '@temporalio/common';

import type { Admission } from '../karpenter/admission.js';
import type { Candidate } from '../karpenter/candidate.js';
import type { ChildReport, InFlight, ObservePoolInput, PoolObservation } from './activityInterfaces.js';
import type { Replaced, RetryAnswer, RetryRequest, RolloutFailure, RolloutResult, RolloutStatus } from './messages.js';
import type { ReplacementResult } from './replacementTypes.js';

/** The input of a rollout: its name, and what it carries over a continue-as-new. */
export interface RolloutInput {
  readonly cluster: string;
  readonly nodePool: string;
  readonly carried?: CarriedState;
  /** Continue as new after so many events instead of when Temporal suggests it: for tests. */
  readonly continueAsNewAfterEvents?: number;
}

export interface CarriedState {
  readonly children: readonly InFlight[];
  readonly failures: readonly RolloutFailure[];
  readonly first: readonly string[];
  readonly replaced: readonly Replaced[];
  readonly notNeeded: RolloutResult['notNeeded'];
  readonly failuresInARow: number;
  readonly backoffUntilMs: number;
  readonly halted: string | null;
}

interface Child extends InFlight {
  /** This run awaits its result; else it is looked up by its workflow id. */
  readonly awaited: boolean;
}

/** How a child ended. */
export type ChildEnd =
  | { readonly kind: 'ended'; readonly result: ReplacementResult }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }
  | { readonly kind: 'stoppedByHand'; readonly code: 'Canceled' | 'Terminated' };

/** A worker's clock may run behind Temporal's: a change that it has not seen when it is due is looked for again after so long. */
const lateClockMs = 1_000;

/** Everything that a rollout knows. It decides nothing about permits: those are read from the cluster each time. */
export class RolloutState {
  readonly #children = new Map<string, Child>();
  readonly #failures = new Map<string, RolloutFailure>();
  readonly #first: Set<string>;
  readonly #replaced: Replaced[];
  readonly #notNeeded: RolloutResult['notNeeded'][number][];
  #failuresInARow: number;
  #backoffUntilMs: number;
  #halted: string | null;
  #settings: PoolObservation['settings'] | undefined;
  #admission: Admission | undefined;
  #quietSinceMs: number | undefined;
  #isPoked = false;

  constructor(private readonly input: RolloutInput) {
    const { carried } = input;
    for (const child of carried?.children ?? []) this.#children.set(child.uid, { ...child, awaited: false });
    for (const failure of carried?.failures ?? []) this.#failures.set(failure.uid, failure);
    this.#first = new Set(carried?.first);
    this.#replaced = [...(carried?.replaced ?? [])];
    this.#notNeeded = [...(carried?.notNeeded ?? [])];
    this.#failuresInARow = carried?.failuresInARow ?? 0;
    this.#backoffUntilMs = carried?.backoffUntilMs ?? 0;
    this.#halted = carried?.halted ?? null;
  }

  get settings(): PoolObservation['settings'] {
    if (this.#settings === undefined) throw new Error('the pool has not been observed yet');
    return this.#settings;
  }

  get isObserved(): boolean {
    return this.#admission !== undefined;
  }

  get isPoked(): boolean {
    return this.#isPoked;
  }

  poke(): void {
    this.#isPoked = true;
  }

  /** What the next look at the pool has to know; pokes that come from now on are for the look after it. */
  nextObservation(): ObservePoolInput {
    this.#isPoked = false;
    const children = [...this.#children.values()];
    return {
      cluster: this.input.cluster,
      nodePool: this.input.nodePool,
      inFlight: children.map(({ nodeClaim, uid }) => ({ nodeClaim, uid })),
      first: [...this.#first],
      last: [...this.#failures.values()].filter(({ held }) => !held).map(({ uid }) => uid),
      held: [...this.#failures.values()].filter(({ held }) => held).map(({ uid }) => uid),
      describe: children.filter(({ awaited }) => !awaited).map(({ nodeClaim, uid }) => ({ nodeClaim, uid })),
      discover: !this.isObserved && this.input.carried === undefined,
    };
  }

  /** Takes in what a look at the pool said; answers who may start now. */
  observed(observation: PoolObservation, nowMs: number): readonly Candidate[] {
    this.#settings = observation.settings;
    this.#admission = observation.admission;
    const known = new Set(this.#children.keys());
    for (const report of observation.children) this.#report(report, nowMs);
    const present = new Set(observation.uids);
    for (const uid of this.#failures.keys()) if (!present.has(uid)) this.#failures.delete(uid);
    for (const uid of this.#first) if (!present.has(uid)) this.#first.delete(uid);
    // A child that was found just now holds a permit that this look did not count: the next one will.
    const found = observation.children.filter(({ uid }) => !known.has(uid));
    if (this.#adoptFound(found, nowMs)) return [];
    return this.#mayStart(nowMs) ? observation.admission.start : [];
  }

  started(candidate: Candidate): void {
    const { nodeClaim, uid } = candidate;
    this.#children.set(uid, { nodeClaim, uid, awaited: true });
    this.#first.delete(uid);
  }

  /** Somebody else started it: it holds its permit all the same. */
  adopted(candidate: InFlight): void {
    const { nodeClaim, uid } = candidate;
    this.#children.set(uid, { nodeClaim, uid, awaited: false });
  }

  /** How often the replacement of this NodeClaim was begun before. */
  rounds(uid: string): number {
    return this.#failures.get(uid)?.rounds ?? 0;
  }

  childEnded(child: InFlight, end: ChildEnd, nowMs: number): void {
    this.#children.delete(child.uid);
    this.#isPoked = true;
    switch (end.kind) {
      case 'ended':
        this.#ended(child, end.result, nowMs);
        return;
      case 'failed':
        this.#failed(child, end.code, end.message, false, nowMs);
        this.#backOff(nowMs);
        return;
      case 'stoppedByHand':
        this.#stoppedByHand(child, end.code, nowMs);
    }
  }

  /** @throws ApplicationFailure when there is nothing to retry under that name */
  checkRetry({ nodeClaim }: RetryRequest): void {
    if (nodeClaim === undefined || !this.isObserved) return;
    const isFailed = [...this.#failures.values()].some((failure) => failure.nodeClaim === nodeClaim);
    if (!isFailed)
      throw ApplicationFailure.nonRetryable(`NodeClaim ${nodeClaim} has not failed in this rollout`, 'NotFailed');
  }

  retry({ nodeClaim }: RetryRequest): RetryAnswer {
    const retried = [...this.#failures.values()].filter(
      (failure) => nodeClaim === undefined || failure.nodeClaim === nodeClaim,
    );
    for (const failure of retried) {
      this.#failures.set(failure.uid, { ...failure, held: false });
      this.#first.add(failure.uid);
    }
    this.#backoffUntilMs = 0;
    this.#failuresInARow = 0;
    this.#halted = null;
    this.#isPoked = true;
    return { retried: retried.map((failure) => failure.nodeClaim) };
  }

  /** The pool has asked for nothing for long enough. */
  isQuiet(nowMs: number): boolean {
    const { waiting, blocked, start } = this.#admission ?? { waiting: [], blocked: [], start: [] };
    const isIdle =
      waiting.length + blocked.length + start.length + this.#children.size + this.#failures.size === 0 &&
      !this.#isPoked;
    this.#quietSinceMs = isIdle ? (this.#quietSinceMs ?? nowMs) : undefined;
    return this.#quietSinceMs !== undefined && nowMs - this.#quietSinceMs >= this.settings.rollout.quietMs;
  }

  /** How long nothing can change without a poke, in milliseconds; undefined: for ever. */
  sleepMs(nowMs: number): number | undefined {
    const instants: number[] = [];
    if (this.#quietSinceMs !== undefined) instants.push(this.#quietSinceMs + this.settings.rollout.quietMs);
    if (this.#backoffUntilMs > nowMs) instants.push(this.#backoffUntilMs);
    if ([...this.#children.values()].some(({ awaited }) => !awaited))
      instants.push(nowMs + this.settings.rollout.childCheckMs);
    if (this.#waitsForOthers()) instants.push(nowMs + this.settings.rollout.lookAgainMs);
    const budgetChangeMs = this.#budgetChangeMs(nowMs);
    if (budgetChangeMs !== undefined) instants.push(budgetChangeMs);
    return instants.length === 0 ? undefined : Math.max(1, Math.min(...instants) - nowMs);
  }

  /** A blocked candidate, or a permit that a node holds which we do not replace, may come free without anybody poking. */
  #waitsForOthers(): boolean {
    const { waiting, blocked, disrupted } = this.#admission ?? { waiting: [], blocked: [], disrupted: [] };
    const ours = new Set([...this.#children.values()].map(({ nodeClaim }) => nodeClaim));
    return blocked.length > 0 || (waiting.length > 0 && disrupted.some((name) => !ours.has(name)));
  }

  /** When a budget's window opens or ends next, if anybody waits for a permit. */
  #budgetChangeMs(nowMs: number): number | undefined {
    const { waiting, nextChangeMs } = this.#admission ?? { waiting: [], nextChangeMs: null };
    // Observations in histories from before there were windows name no instant at all.
    if (waiting.length === 0 || typeof nextChangeMs !== 'number') return undefined;
    return nextChangeMs > nowMs ? nextChangeMs : nowMs + lateClockMs;
  }

  carry(): CarriedState {
    return {
      children: [...this.#children.values()].map(({ nodeClaim, uid }) => ({ nodeClaim, uid })),
      failures: [...this.#failures.values()],
      first: [...this.#first],
      replaced: this.#replaced,
      notNeeded: this.#notNeeded,
      failuresInARow: this.#failuresInARow,
      backoffUntilMs: this.#backoffUntilMs,
      halted: this.#halted,
    };
  }

  result(): RolloutResult {
    return {
      nodePool: this.input.nodePool,
      replaced: this.#replaced,
      notNeeded: this.#notNeeded,
      failures: [...this.#failures.values()],
    };
  }

  status(nowMs: number): RolloutStatus {
    return {
      ...this.result(),
      inFlight: [...this.#children.values()].map(({ nodeClaim }) => nodeClaim),
      halted: this.#halted,
      backoffUntil: this.#backoffUntilMs > nowMs ? new Date(this.#backoffUntilMs).toISOString() : null,
      admission: this.#admission ?? null,
    };
  }

  #mayStart(nowMs: number): boolean {
    return this.#halted === null && nowMs >= this.#backoffUntilMs;
  }

  /** What a rollout that was started anew learns of the one before: who is in flight, and whom a person has stopped. */
  #adoptFound(found: readonly ChildReport[], nowMs: number): boolean {
    for (const child of found) {
      if (child.status === 'running') this.adopted(child);
      if (child.status === 'canceled') this.#stoppedByHand(child, 'Canceled', nowMs);
      if (child.status === 'terminated') this.#stoppedByHand(child, 'Terminated', nowMs);
    }
    if (found.length > 0) this.#isPoked = true;
    return found.length > 0;
  }

  #stoppedByHand(child: InFlight, code: 'Canceled' | 'Terminated', nowMs: number): void {
    this.#failed(child, code, `${code.toLowerCase()} by hand`, true, nowMs);
  }

  #report(report: ChildReport, nowMs: number): void {
    if (!this.#children.has(report.uid)) return;
    switch (report.status) {
      case 'running':
        return;
      case 'completed':
        this.childEnded(report, { kind: 'ended', result: this.#resultOf(report) }, nowMs);
        return;
      case 'failed':
        this.childEnded(report, { kind: 'failed', code: report.code ?? 'Error', message: report.message ?? '' }, nowMs);
        return;
      case 'canceled':
        this.childEnded(report, { kind: 'stoppedByHand', code: 'Canceled' }, nowMs);
        return;
      case 'terminated':
      case 'notFound':
        this.childEnded(report, { kind: 'stoppedByHand', code: 'Terminated' }, nowMs);
    }
  }

  #resultOf(report: ChildReport): ReplacementResult {
    return report.result ?? { kind: 'notNeeded', nodeClaim: report.nodeClaim, why: 'its result could not be read' };
  }

  #ended(child: InFlight, result: ReplacementResult, nowMs: number): void {
    this.#failures.delete(child.uid);
    switch (result.kind) {
      case 'replaced': {
        const { nodeClaim, replacement, launchFailures } = result;
        this.#replaced.push({ nodeClaim, replacement, launchFailures });
        this.#failuresInARow = 0;
        return;
      }
      case 'notNeeded': {
        const { nodeClaim, why } = result;
        const isAgain = this.#notNeeded.some((other) => other.nodeClaim === nodeClaim);
        if (!isAgain) this.#notNeeded.push({ nodeClaim, why });
        // The pool says yes and the node says no: not a race any more, and not worth a loop.
        if (isAgain) {
          this.#failed(child, 'NotNeeded', why, false, nowMs);
          this.#backOff(nowMs);
        }
      }
    }
  }

  #failed(child: InFlight, code: string, message: string, held: boolean, nowMs: number): void {
    const { nodeClaim, uid } = child;
    const rounds = this.rounds(uid) + 1;
    this.#failures.set(uid, { nodeClaim, uid, code, message, at: new Date(nowMs).toISOString(), rounds, held });
  }

  /** One bad pool waits, longer each time; after so many failures in a row it waits for a person. */
  #backOff(nowMs: number): void {
    this.#failuresInARow += 1;
    const { backoffMs, backoffMaxMs, haltAfterFailures } = this.settings.rollout;
    const fullMs = Math.min(backoffMs * 2 ** (this.#failuresInARow - 1), backoffMaxMs);
    // Workflow code's Math.random is seeded: the same on replay.
    this.#backoffUntilMs = nowMs + fullMs * (0.8 + 0.2 * Math.random());
    if (this.#failuresInARow >= haltAfterFailures) {
      this.#halted = `${this.#failuresInARow} replacements in a row failed; retry when the cause is gone`;
    }
  }
}
