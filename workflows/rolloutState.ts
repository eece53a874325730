import { ApplicationFailure } from '@temporalio/common';

import type { AdmissionReport } from '../karpenter/admissionReport.js';
import type { Candidate } from '../karpenter/candidate.js';
import type { ChildReport, InFlight, LineState, ObservePoolInput, PoolObservation } from './activityInterfaces.js';
import type {
  Asker,
  CancelRequest,
  Pause,
  Replaced,
  RetryAnswer,
  RetryRequest,
  RolloutFailure,
  RolloutResult,
  RolloutStatus,
  Skip,
  SkipRequest,
} from './messages.js';
import { failureTypes } from './failures.js';
import { refuseRequest } from './requests.js';
import type { ReplacementResult } from './replacementTypes.js';
import type { CarriedBackoff } from './rolloutBackoff.js';
import { RolloutBackoff } from './rolloutBackoff.js';
import type { CarriedInterventions } from './rolloutInterventions.js';
import { RolloutInterventions } from './rolloutInterventions.js';

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
  readonly backoff: CarriedBackoff;
  readonly interventions: CarriedInterventions;
}

interface Child extends InFlight {
  /** This run awaits its result; else it is looked up by its workflow id at each look. */
  readonly awaited: boolean;
}

/** How a child ended. */
export type ChildEnd =
  | { readonly kind: 'ended'; readonly result: ReplacementResult }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }
  | { readonly kind: 'stoppedByHand'; readonly code: 'Canceled' | 'Terminated' };

/** A worker's clock may run behind Temporal's: a change that it has not seen when it is due is looked for again after so long. */
const lateClockMs = 1_000;
/** A timer of months is kept as several. */
const longestSleepMs = 24 * 3_600_000;

const nothing = { count: 0, first: [] };
const noAdmission = {
  waiting: nothing,
  blocked: nothing,
  start: [],
  disruptedByOthers: 0,
  closed: null,
  nextLookMs: null,
};

/** Everything that a rollout knows. It decides nothing about permits: those are read from the cluster each time. */
export class RolloutState {
  readonly #children = new Map<string, Child>();
  readonly #failures = new Map<string, RolloutFailure>();
  /** By the UID of those that this run has started. */
  readonly #reasons = new Map<string, Pick<Candidate, 'reason' | 'reasonDetail'>>();
  readonly #first: Set<string>;
  readonly #replaced: Replaced[];
  readonly #notNeeded: RolloutResult['notNeeded'][number][];
  readonly #backoff: RolloutBackoff;
  readonly #interventions: RolloutInterventions;
  /** Names of the NodeClaims that somebody is about to skip: they are being looked up. */
  readonly #aboutToBeSkipped = new Set<string>();
  #settings: PoolObservation['settings'] | undefined;
  #admission: AdmissionReport | undefined;
  #isCanceled = false;
  #quietSinceMs: number | undefined;
  #isPoked = false;
  /** When all children are to be looked up, the awaited ones too: a rollout that was reset may never be told how those ended. */
  #lookUpAllAtMs: number | undefined;

  constructor(private readonly input: RolloutInput) {
    const { carried } = input;
    for (const child of carried?.children ?? []) this.#children.set(child.uid, { ...child, awaited: false });
    for (const failure of carried?.failures ?? []) this.#failures.set(failure.uid, failure);
    this.#first = new Set(carried?.first);
    this.#replaced = [...(carried?.replaced ?? [])];
    this.#notNeeded = [...(carried?.notNeeded ?? [])];
    this.#backoff = new RolloutBackoff(carried?.backoff);
    this.#interventions = new RolloutInterventions(carried?.interventions);
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

  get children(): readonly InFlight[] {
    return [...this.#children.values()].map(({ nodeClaim, uid }) => ({ nodeClaim, uid }));
  }

  /** Nothing is admitted any more; the rollout ends as canceled when its children have ended. */
  cancel(): void {
    this.#isCanceled = true;
    this.#isPoked = true;
  }

  get isCanceled(): boolean {
    return this.#isCanceled;
  }

  /** Nodes have the soft taint that should not, or should have it and have not. */
  get hasMarksToChange(): boolean {
    return (this.#admission?.markChanges ?? 0) > 0;
  }

  /** The soft taints are as the last look wanted them: only a pool that asks for nothing is looked at again for that, once it is open. */
  marksChanged(): void {
    if (!this.#asksForSomething() && this.#admission?.closed === null) this.#isPoked = true;
  }

  /** What decides, beside the cluster, who may go, and in which order. */
  line(): LineState {
    const failures = [...this.#failures.values()];
    const isHeld = ({ held }: RolloutFailure): boolean => held;
    return {
      cluster: this.input.cluster,
      nodePool: this.input.nodePool,
      inFlight: [...this.#children.values()].map(({ nodeClaim }) => nodeClaim),
      first: [...this.#first],
      last: failures.filter((failure) => !isHeld(failure)).map(({ uid }) => uid),
      held: [...failures.filter(isHeld), ...this.#interventions.skipped].map(({ uid }) => uid),
    };
  }

  /** What the next look at the pool has to know; pokes that come from now on are for the look after it. */
  nextObservation(nowMs: number): ObservePoolInput {
    this.#isPoked = false;
    this.#interventions.expire(nowMs);
    return {
      ...this.line(),
      describe: this.#toLookUp(nowMs).map(({ nodeClaim, uid }) => ({ nodeClaim, uid })),
      discover: !this.isObserved && this.input.carried === undefined,
    };
  }

  #toLookUp(nowMs: number): readonly Child[] {
    const children = [...this.#children.values()];
    if (this.#lookUpAllAtMs === undefined || nowMs < this.#lookUpAllAtMs)
      return children.filter(({ awaited }) => !awaited);
    this.#lookUpAllAtMs = undefined;
    return children;
  }

  /** Takes in what a look at the pool said; answers who may start now. */
  observed(observation: PoolObservation, nowMs: number): readonly Candidate[] {
    this.#settings = observation.settings;
    this.#admission = observation.admission;
    this.#lookUpAllAtMs ??= nowMs + observation.settings.rollout.lookAgainMs;
    const known = new Set(this.#children.keys());
    for (const report of observation.children) this.#report(report, nowMs);
    for (const uid of observation.settled) {
      this.#failures.delete(uid);
      this.#first.delete(uid);
    }
    // A skip is about the NodeClaim, whether anything asks for its replacement just now or not.
    for (const uid of observation.gone) this.#interventions.forget(uid);
    // A child that was found just now holds a permit that this look did not count: the next one will.
    const found = observation.children.filter(({ uid }) => !known.has(uid));
    if (this.#adoptFound(found, nowMs)) return [];
    if (!this.#mayStart(nowMs)) return [];
    return observation.admission.start.filter(({ nodeClaim }) => !this.#aboutToBeSkipped.has(nodeClaim));
  }

  /** @returns the child, for awaitedEnded */
  started(candidate: Candidate): InFlight {
    const { nodeClaim, uid, reason, reasonDetail } = candidate;
    const child: Child = { nodeClaim, uid, awaited: true };
    this.#children.set(uid, child);
    this.#reasons.set(uid, { reason, reasonDetail });
    this.#first.delete(uid);
    return child;
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

  /** A child has told its end itself; nothing new when that has been looked up before. */
  awaitedEnded(child: InFlight, end: ChildEnd, nowMs: number): void {
    if (this.#children.get(child.uid) === child) this.childEnded(child, end, nowMs);
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
        this.#backoff.failed(end.code, end.message, nowMs, this.settings.rollout);
        return;
      case 'stoppedByHand':
        this.#stoppedByHand(child, end.code, nowMs);
    }
  }

  /** @throws ApplicationFailure when there is nothing to retry under that name */
  checkRetry({ nodeClaim }: RetryRequest): void {
    if (nodeClaim === undefined || !this.isObserved || this.#retriable(nodeClaim).length > 0) return;
    if (this.#isInFlight(nodeClaim)) refuseRequest(`NodeClaim ${nodeClaim} is being replaced already`);
    const why = `NodeClaim ${nodeClaim} has not failed in this rollout, nor has it been skipped`;
    throw ApplicationFailure.nonRetryable(why, failureTypes.notFailed);
  }

  retry({ nodeClaim, by, why }: RetryRequest, nowMs: number): RetryAnswer {
    const retried = this.#retriable(nodeClaim);
    for (const { uid } of retried) {
      const failure = this.#failures.get(uid);
      if (failure !== undefined) this.#failures.set(uid, { ...failure, held: false });
      this.#first.add(uid);
    }
    this.#backoff.reset();
    this.#interventions.retry(
      nodeClaim,
      { ...(by === undefined ? {} : { by }), ...(why === undefined ? {} : { why }) },
      nowMs,
    );
    this.#isPoked = true;
    return { retried: retried.map((child) => child.nodeClaim) };
  }

  /** What has failed or been skipped and is not under way again. */
  #retriable(nodeClaim: string | undefined): readonly InFlight[] {
    const waiting = [...this.#failures.values(), ...this.#interventions.skipped]
      .filter((child) => nodeClaim === undefined || child.nodeClaim === nodeClaim)
      .filter(({ uid }) => !this.#children.has(uid));
    return [...new Map(waiting.map((child) => [child.uid, child])).values()];
  }

  #isInFlight(nodeClaim: string): boolean {
    return this.children.some((child) => child.nodeClaim === nodeClaim);
  }

  pause(asker: Asker, nowMs: number): Pause {
    this.#isPoked = true;
    return this.#interventions.pause(asker, nowMs);
  }

  /** @throws ApplicationFailure when it is not paused */
  checkResume(): void {
    if (this.#interventions.paused === null)
      refuseRequest(`the rollout of NodePool ${this.input.nodePool} is not paused`);
  }

  resume(asker: Asker, nowMs: number): void {
    this.#interventions.resume(asker, nowMs);
    this.#isPoked = true;
  }

  /** @throws ApplicationFailure when its replacement is under way: that can only be canceled */
  checkSkip(nodeClaim: string): void {
    if (this.#isInFlight(nodeClaim))
      refuseRequest(`NodeClaim ${nodeClaim} is being replaced: cancel its replacement instead`);
  }

  /** The NodeClaim does not start while it is being looked up. */
  beginSkip(nodeClaim: string): void {
    this.#aboutToBeSkipped.add(nodeClaim);
  }

  endSkip(nodeClaim: string): void {
    this.#aboutToBeSkipped.delete(nodeClaim);
    this.#isPoked = true;
  }

  /** @throws ApplicationFailure when its replacement is under way after all: somebody else had started it */
  skip(child: InFlight, request: SkipRequest, nowMs: number): Skip {
    this.checkSkip(child.nodeClaim);
    return this.#interventions.skip(child, request, nowMs);
  }

  /** @throws ApplicationFailure when the NodeClaim's replacement is not under way */
  checkCancel({ nodeClaim }: CancelRequest): void {
    if (nodeClaim === undefined || !this.isObserved || this.#isInFlight(nodeClaim)) return;
    refuseRequest(`NodeClaim ${nodeClaim} is not being replaced`);
  }

  /** The children that a person's cancel is about. */
  cancelable({ nodeClaim, by, why }: CancelRequest, nowMs: number): readonly InFlight[] {
    this.#interventions.cancel(nodeClaim, { by, why }, nowMs);
    return this.children.filter((child) => nodeClaim === undefined || child.nodeClaim === nodeClaim);
  }

  /** The pool has asked for nothing for long enough. */
  isQuiet(nowMs: number): boolean {
    const isIdle =
      !this.#asksForSomething() && !this.#isPoked && this.#interventions.paused === null && !this.hasMarksToChange;
    this.#quietSinceMs = isIdle ? (this.#quietSinceMs ?? nowMs) : undefined;
    return this.#quietSinceMs !== undefined && nowMs - this.#quietSinceMs >= this.settings.rollout.quietMs;
  }

  #asksForSomething(): boolean {
    const { waiting, blocked, start } = this.#admission ?? noAdmission;
    const candidates = waiting.count + blocked.count + start.length;
    return candidates + this.#children.size + this.#failures.size + this.#interventions.skipped.length > 0;
  }

  /** How long nothing can change without a poke, in milliseconds; undefined: for ever. */
  sleepMs(nowMs: number): number | undefined {
    const instants: number[] = [];
    if (this.#quietSinceMs !== undefined) instants.push(this.#quietSinceMs + this.settings.rollout.quietMs);
    if (this.#backoff.untilMs > nowMs) instants.push(this.#backoff.untilMs);
    const hasStrangers = [...this.#children.values()].some(({ awaited }) => !awaited);
    if (hasStrangers || this.#admission?.isCapped === true) instants.push(nowMs + this.settings.rollout.childCheckMs);
    if (this.#children.size > 0 && this.#lookUpAllAtMs !== undefined) instants.push(this.#lookUpAllAtMs);
    if (this.#waitsForOthers() || this.hasMarksToChange) instants.push(nowMs + this.settings.rollout.lookAgainMs);
    instants.push(...this.#interventions.skipped.map(({ until }) => Date.parse(until)));
    const { nextLookMs } = this.#admission ?? noAdmission;
    // Looked for again where a worker's clock, running behind Temporal's, has not seen a change that is due.
    if (nextLookMs !== null) instants.push(nextLookMs > nowMs ? nextLookMs : nowMs + lateClockMs);
    return instants.length === 0 ? undefined : Math.min(longestSleepMs, Math.max(1, Math.min(...instants) - nowMs));
  }

  /** What blocks or holds a permit elsewhere may go without anybody poking. */
  #waitsForOthers(): boolean {
    const { waiting, blocked, disruptedByOthers, closed } = this.#admission ?? noAdmission;
    return blocked.count > 0 || (waiting.count > 0 && (disruptedByOthers > 0 || closed !== null));
  }

  carry(): CarriedState {
    return {
      children: this.children,
      failures: [...this.#failures.values()],
      first: [...this.#first],
      replaced: this.#replaced,
      notNeeded: this.#notNeeded,
      backoff: this.#backoff.carry(),
      interventions: this.#interventions.carry(),
    };
  }

  result(): RolloutResult {
    return {
      nodePool: this.input.nodePool,
      replaced: this.#replaced,
      notNeeded: this.#notNeeded,
      failures: [...this.#failures.values()],
      interventions: this.#interventions.log,
    };
  }

  status(nowMs: number): RolloutStatus {
    return {
      ...this.result(),
      inFlight: [...this.#children.values()].map(({ nodeClaim }) => nodeClaim),
      halted: this.#backoff.halted,
      backoffUntil: this.#backoff.untilMs > nowMs ? new Date(this.#backoff.untilMs).toISOString() : null,
      paused: this.#interventions.paused,
      skipped: this.#interventions.skipped,
      admission: this.#admission ?? null,
    };
  }

  #mayStart(nowMs: number): boolean {
    return !this.#isCanceled && this.#interventions.paused === null && this.#backoff.mayStart(nowMs);
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
        const { nodeClaim, replacement, reason, reasonDetail, launchFailures } = result;
        this.#replaced.push({ nodeClaim, replacement, reason, reasonDetail, launchFailures });
        this.#backoff.succeeded();
        return;
      }
      case 'notNeeded': {
        const { nodeClaim, why } = result;
        const isAgain = this.#notNeeded.some((other) => other.nodeClaim === nodeClaim);
        if (!isAgain) this.#notNeeded.push({ nodeClaim, why });
        // The pool says yes and the node says no: not a race any more, and not worth a loop.
        if (isAgain) {
          this.#failed(child, 'NotNeeded', why, false, nowMs);
          this.#backoff.failed('NotNeeded', why, nowMs, this.settings.rollout);
        }
      }
    }
  }

  #failed(child: InFlight, code: string, message: string, held: boolean, nowMs: number): void {
    const { nodeClaim, uid } = child;
    const rounds = this.rounds(uid) + 1;
    const reason = this.#reasons.get(uid) ?? {};
    const at = new Date(nowMs).toISOString();
    this.#failures.set(uid, { nodeClaim, uid, ...reason, code, message, at, rounds, held });
  }
}
