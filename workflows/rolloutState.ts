import { ApplicationFailure } from '@temporalio/common';

import type { AdmissionReport } from '../karpenter/admissionReport.js';
import type { Candidate } from '../karpenter/candidate.js';
import type { ChildReport, InFlight, LineState, ObservePoolInput, PoolObservation } from './activityInterfaces.js';
import type {
  Asker,
  CancelRequest,
  Pause,
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
import { RolloutChildren } from './rolloutChildren.js';
import type { CarriedInterventions } from './rolloutInterventions.js';
import { RolloutInterventions } from './rolloutInterventions.js';
import type { CarriedOutcomes } from './rolloutOutcomes.js';
import { RolloutOutcomes } from './rolloutOutcomes.js';

/** The input of a rollout: its name, and what it carries over a continue-as-new. */
export interface RolloutInput {
  readonly cluster: string;
  readonly nodePool: string;
  readonly carried?: CarriedState;
  /** Continue as new after so many events instead of when Temporal suggests it: for tests. */
  readonly continueAsNewAfterEvents?: number;
}

export interface CarriedState extends CarriedOutcomes {
  readonly children: readonly InFlight[];
  readonly first: readonly string[];
  readonly backoff: CarriedBackoff;
  readonly interventions: CarriedInterventions;
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
  readonly #children: RolloutChildren;
  readonly #outcomes: RolloutOutcomes;
  /** The UIDs of those that people want first. */
  readonly #first: Set<string>;
  readonly #backoff: RolloutBackoff;
  readonly #interventions: RolloutInterventions;
  /** Names of the NodeClaims that somebody is about to skip: they are being looked up. */
  readonly #aboutToBeSkipped = new Set<string>();
  #settings: PoolObservation['settings'] | undefined;
  #admission: AdmissionReport | undefined;
  #isCanceled = false;
  #quietSinceMs: number | undefined;
  #isPoked = false;

  constructor(private readonly input: RolloutInput) {
    const { carried } = input;
    this.#children = new RolloutChildren(carried?.children);
    this.#outcomes = new RolloutOutcomes(carried);
    this.#first = new Set(carried?.first);
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
    return this.#children.inFlight;
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
    const { failures } = this.#outcomes;
    const isHeld = ({ held }: RolloutFailure): boolean => held;
    return {
      cluster: this.input.cluster,
      nodePool: this.input.nodePool,
      inFlight: this.#children.nodeClaims,
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
      describe: this.#children.toLookUp(nowMs),
      discover: !this.isObserved && this.input.carried === undefined,
    };
  }

  /** Takes in what a look at the pool said; answers who may start now. */
  observed(observation: PoolObservation, nowMs: number): readonly Candidate[] {
    this.#settings = observation.settings;
    this.#admission = observation.admission;
    this.#children.lookUpAllIn(observation.settings.rollout.lookAgainMs, nowMs);
    const known = this.#children.uids;
    for (const report of observation.children) this.#report(report, nowMs);
    for (const uid of observation.settled) {
      this.#outcomes.settled(uid);
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
    this.#outcomes.began(candidate);
    this.#first.delete(candidate.uid);
    return this.#children.started(candidate);
  }

  /** Somebody else started it: it holds its permit all the same. */
  adopted(child: InFlight): void {
    this.#children.adopted(child);
  }

  /** How often the replacement of this NodeClaim was begun before. */
  rounds(uid: string): number {
    return this.#outcomes.rounds(uid);
  }

  /** A child has told its end itself; nothing new when that has been looked up before. */
  awaitedEnded(child: InFlight, end: ChildEnd, nowMs: number): void {
    if (this.#children.isCurrent(child)) this.childEnded(child, end, nowMs);
  }

  childEnded(child: InFlight, end: ChildEnd, nowMs: number): void {
    this.#children.ended(child.uid);
    this.#isPoked = true;
    switch (end.kind) {
      case 'ended':
        this.#ended(child, end.result, nowMs);
        return;
      case 'failed':
        this.#failed(child, end.code, end.message, nowMs);
        return;
      case 'stoppedByHand':
        this.#stoppedByHand(child, end.code, nowMs);
    }
  }

  /** @throws ApplicationFailure when there is nothing to retry under that name */
  checkRetry({ nodeClaim }: RetryRequest): void {
    if (nodeClaim === undefined || !this.isObserved || this.#retriable(nodeClaim).length > 0) return;
    if (this.#children.hasNamed(nodeClaim)) refuseRequest(`NodeClaim ${nodeClaim} is being replaced already`);
    const why = `NodeClaim ${nodeClaim} has not failed in this rollout, nor has it been skipped`;
    throw ApplicationFailure.nonRetryable(why, failureTypes.notFailed);
  }

  retry({ nodeClaim, by, why }: RetryRequest, nowMs: number): RetryAnswer {
    const retried = this.#retriable(nodeClaim);
    for (const { uid } of retried) {
      this.#outcomes.releaseHeld(uid);
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
    const waiting = [...this.#outcomes.failures, ...this.#interventions.skipped]
      .filter((child) => nodeClaim === undefined || child.nodeClaim === nodeClaim)
      .filter(({ uid }) => !this.#children.has(uid));
    return [...new Map(waiting.map((child) => [child.uid, child])).values()];
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
    if (this.#children.hasNamed(nodeClaim))
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
    if (nodeClaim === undefined || !this.isObserved || this.#children.hasNamed(nodeClaim)) return;
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
    return candidates + this.#children.count + this.#outcomes.failures.length + this.#interventions.skipped.length > 0;
  }

  /** How long nothing can change without a poke, in milliseconds; undefined: for ever. */
  sleepMs(nowMs: number): number | undefined {
    const instants: number[] = [];
    if (this.#quietSinceMs !== undefined) instants.push(this.#quietSinceMs + this.settings.rollout.quietMs);
    if (this.#backoff.untilMs > nowMs) instants.push(this.#backoff.untilMs);
    if (this.#children.hasStrangers || this.#admission?.isCapped === true)
      instants.push(nowMs + this.settings.rollout.childCheckMs);
    if (this.#children.lookUpAllAtMs !== undefined) instants.push(this.#children.lookUpAllAtMs);
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
      ...this.#outcomes.carry(),
      children: this.children,
      first: [...this.#first],
      backoff: this.#backoff.carry(),
      interventions: this.#interventions.carry(),
    };
  }

  result(): RolloutResult {
    return {
      nodePool: this.input.nodePool,
      ...this.#outcomes.carry(),
      interventions: this.#interventions.log,
    };
  }

  status(nowMs: number): RolloutStatus {
    const { stuck } = this.#children;
    return {
      ...this.result(),
      inFlight: this.#children.nodeClaims,
      ...(stuck.length > 0 ? { stuck } : {}),
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
    this.#outcomes.failed(child, { code, message: `${code.toLowerCase()} by hand`, held: true }, nowMs);
  }

  #report(report: ChildReport, nowMs: number): void {
    if (!this.#children.has(report.uid)) return;
    switch (report.status) {
      case 'running':
        this.#children.looked(report.uid, report.stuck);
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
    switch (result.kind) {
      case 'replaced':
        this.#outcomes.replaced(child.uid, result);
        this.#backoff.succeeded();
        return;
      case 'notNeeded': {
        const isAgain = this.#outcomes.notNeeded(child.uid, result);
        // The pool says yes and the node says no: not a race any more, and not worth a loop.
        if (isAgain) this.#failed(child, 'NotNeeded', result.why, nowMs);
      }
    }
  }

  #failed(child: InFlight, code: string, message: string, nowMs: number): void {
    this.#outcomes.failed(child, { code, message, held: false }, nowMs);
    this.#backoff.failed(code, message, nowMs, this.settings.rollout);
  }
}
