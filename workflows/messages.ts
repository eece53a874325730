import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';

import type { AdmissionReport } from '../karpenter/admissionReport.js';
import type { LaunchFailure } from './replacementTypes.js';

/** Something may have changed: look at the cluster. Carries nothing, and a second one changes nothing. */
export const pokeSignal = defineSignal('poke');

/** A replacement that did not succeed and is not forgotten. */
export interface RolloutFailure {
  readonly nodeClaim: string;
  readonly uid: string;
  /** Why it was to be replaced, where this run has started it. */
  readonly reason?: string;
  readonly reasonDetail?: string;
  /** Azure's code, or one of ours: see workflows/failures.ts; Canceled and Terminated when a person did it. */
  readonly code: string;
  readonly message: string;
  readonly at: string;
  readonly rounds: number;
  /** Waits for a person's `retry`; else it is tried again after the pool's backoff. */
  readonly held: boolean;
}

/** A node that the rollout has replaced. */
export interface Replaced {
  readonly nodeClaim: string;
  /** The NodeClaim that took its place; null: it was empty, nothing had to. */
  readonly replacement: string | null;
  /** Why it was replaced, and the reason's own reason, or what a person said. */
  readonly reason: string;
  readonly reasonDetail: string;
  readonly launchFailures: readonly LaunchFailure[];
}

/** What a rollout has done when it ends. */
export interface RolloutResult {
  readonly nodePool: string;
  readonly replaced: readonly Replaced[];
  /** NodeClaims that needed no replacement in the end, and why. */
  readonly notNeeded: readonly { readonly nodeClaim: string; readonly why: string }[];
  readonly failures: readonly RolloutFailure[];
  /** What people did to it, the latest of it. */
  readonly interventions: readonly Intervention[];
}

/** What a rollout is doing now. */
/** A replacement that gets no further: its workflow itself fails. It holds its permit. */
export interface StuckReplacement {
  readonly nodeClaim: string;
  readonly why: string;
}

export interface RolloutStatus extends RolloutResult {
  readonly inFlight: readonly string[];
  /** Those of them that got no further at the last look, if there are any. */
  readonly stuck?: readonly StuckReplacement[];
  /** Why it starts nothing on its own any more, until somebody retries. */
  readonly halted: string | null;
  /** No replacement starts before this instant, ISO 8601. */
  readonly backoffUntil: string | null;
  /** What the last look at the pool said. */
  readonly admission: AdmissionReport | null;
  readonly paused: Pause | null;
  readonly skipped: readonly Skip[];
}

export const statusQuery = defineQuery<RolloutStatus>('status');

/** Who asks for something, and why: both stay in the record. */
export interface Asker {
  readonly by: string;
  readonly why: string;
}

/** Something that a person did to a rollout. */
export interface Intervention extends Asker {
  readonly what: 'pause' | 'resume' | 'retry' | 'skip' | 'cancel';
  /** ISO 8601. */
  readonly at: string;
  /** The NodeClaim that it is about, if it is about one. */
  readonly nodeClaim: string | null;
}

/** Nothing starts until somebody resumes. */
export interface Pause extends Asker {
  /** ISO 8601. */
  readonly since: string;
}

/** A NodeClaim that is left alone for a while. */
export interface Skip extends Asker {
  readonly nodeClaim: string;
  readonly uid: string;
  /** ISO 8601. */
  readonly until: string;
}

export type PauseRequest = Asker;
export type ResumeRequest = Asker;

export interface RetryRequest extends Partial<Asker> {
  /** The NodeClaim to try again; without it, all that failed. */
  readonly nodeClaim?: string;
}

export interface RetryAnswer {
  /** NodeClaims that had failed or been skipped: they start as soon as a permit is free. */
  readonly retried: readonly string[];
}

export interface SkipRequest extends Asker {
  readonly nodeClaim: string;
  /** Until when, ISO 8601 with a zone; at most 30 days ahead. */
  readonly until: string;
}

export interface CancelRequest extends Asker {
  /** The NodeClaim whose replacement is canceled; without it, all that are under way. */
  readonly nodeClaim?: string;
}

export interface CancelAnswer {
  /** NodeClaims whose replacement was asked to undo what it did. */
  readonly canceled: readonly string[];
}

/** Start failed replacements again, now: ends a backoff, a halt and a skip. */
export const retryUpdate = defineUpdate<RetryAnswer, [RetryRequest]>('retry');
/** Start nothing any more; what runs goes on to its end. */
export const pauseUpdate = defineUpdate<Pause, [PauseRequest]>('pause');
/** Go on after a pause. */
export const resumeUpdate = defineUpdate<undefined, [ResumeRequest]>('resume');
/** Leave one NodeClaim alone until an instant. */
export const skipUpdate = defineUpdate<Skip, [SkipRequest]>('skip');
/** Cancel replacements that are under way: up to the drain they undo what they did. Nobody is tried again before a retry. */
export const cancelUpdate = defineUpdate<CancelAnswer, [CancelRequest]>('cancel');
