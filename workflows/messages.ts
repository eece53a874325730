import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';

import type { Admission } from '../karpenter/admission.js';
import type { LaunchFailure } from './replacementTypes.js';

/** Something may have changed: look at the cluster. Carries nothing, and a second one changes nothing. */
export const pokeSignal = defineSignal('poke');

/** A replacement that did not succeed and is not forgotten. */
export interface RolloutFailure {
  readonly nodeClaim: string;
  readonly uid: string;
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
  readonly replacement: string;
  readonly launchFailures: readonly LaunchFailure[];
}

/** What a rollout has done when it ends. */
export interface RolloutResult {
  readonly nodePool: string;
  readonly replaced: readonly Replaced[];
  /** NodeClaims that needed no replacement in the end, and why. */
  readonly notNeeded: readonly { readonly nodeClaim: string; readonly why: string }[];
  readonly failures: readonly RolloutFailure[];
}

/** What a rollout is doing now. */
export interface RolloutStatus extends RolloutResult {
  readonly inFlight: readonly string[];
  /** Why it starts nothing on its own any more, until somebody retries. */
  readonly halted: string | null;
  /** No replacement starts before this instant, ISO 8601. */
  readonly backoffUntil: string | null;
  /** What the last look at the pool said. */
  readonly admission: Admission | null;
}

export const statusQuery = defineQuery<RolloutStatus>('status');

export interface RetryRequest {
  /** The NodeClaim to try again; without it, all that failed. */
  readonly nodeClaim?: string;
}

export interface RetryAnswer {
  /** NodeClaims that are tried again as soon as a permit is free. */
  readonly retried: readonly string[];
}

/** Start failed replacements again, now: ends a backoff and a halt. */
export const retryUpdate = defineUpdate<RetryAnswer, [RetryRequest]>('retry');
