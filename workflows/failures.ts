import { ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/common';

import type { LaunchFailure } from './replacementTypes.js';

/** Types of the ApplicationFailures that our activities end with; they stand in the UI as they are. */
export const failureTypes = {
  /** A launch failed for good: the details carry a LaunchFailedDetails. */
  launchFailed: 'LaunchFailed',
  /** A wait ran out of time: the details carry what was waited for. */
  deadlineExceeded: 'DeadlineExceeded',
  /** Not an error: the wait goes on after the failure's nextRetryDelay. */
  waiting: 'Waiting',
  /** The reason for the replacement is gone, and nothing has been evicted yet: undo everything, nobody is to blame. */
  notNeeded: 'NotNeeded',
  /** What is to be changed is not what it was, or not ours. */
  refused: 'Refused',
  /** The replacement has drifted before any pod moved to it: the next one would too. */
  bornDrifted: 'BornDrifted',
  /** A person named a NodeClaim that the pool does not have. */
  unknownNodeClaim: 'UnknownNodeClaim',
  /** A person asked for the retry of what has neither failed nor been skipped. */
  notFailed: 'NotFailed',
  /** A request of a person that cannot be fulfilled as it stands. */
  invalidRequest: 'InvalidRequest',
  /** The kill switch is on: the step begins anew, with all of its time, when it is off again. */
  paused: 'Paused',
  /** The API server says that we lack a right. */
  forbidden: 'Forbidden',
  /** Worker and workflow mean different clusters. */
  wrongCluster: 'WrongCluster',
} as const;

export interface LaunchFailedDetails extends LaunchFailure {
  /** Whether the same launch in another VM size or zone could succeed. */
  readonly anotherOffering: boolean;
}

/** What every failure of the activity `drain` carries. */
export interface DrainFailureDetails {
  /** A pod was evicted or deleted, or may have been. */
  readonly evictionBegan: boolean;
}

function isLaunchFailedDetails(value: unknown): value is LaunchFailedDetails {
  return (
    typeof value === 'object' && value !== null && 'code' in value && 'message' in value && 'anotherOffering' in value
  );
}

/** What a failed activity says of the launch that it was about, or undefined when it says nothing about a launch. */
export function readLaunchFailure(error: unknown): LaunchFailedDetails | undefined {
  if (!(error instanceof ActivityFailure)) return undefined;
  if (!(error.cause instanceof ApplicationFailure) || error.cause.type !== failureTypes.launchFailed) return undefined;
  const details: unknown = error.cause.details?.[0];
  return isLaunchFailedDetails(details) ? details : undefined;
}

/** Why a replacement is not needed after all, if that is what the failure says. */
export function readNotNeeded(error: unknown): string | undefined {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  return cause instanceof ApplicationFailure && cause.type === failureTypes.notNeeded ? cause.message : undefined;
}

/** Why nothing may be changed now, if that is what the failure says. */
export function readPaused(error: unknown): string | undefined {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  return cause instanceof ApplicationFailure && cause.type === failureTypes.paused ? cause.message : undefined;
}

/** What a drain that ended so leaves to the next one. */
export function readDrainFailure(error: unknown): DrainFailureDetails {
  return { evictionBegan: mayHaveEvicted(error) };
}

/** Whether a drain that ended so may have evicted anything. One that was canceled, or timed out without a word, may. */
export function mayHaveEvicted(error: unknown): boolean {
  if (readNotNeeded(error) !== undefined) return false;
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  const details: unknown = cause instanceof ApplicationFailure ? cause.details?.[0] : undefined;
  return !(
    typeof details === 'object' &&
    details !== null &&
    'evictionBegan' in details &&
    details.evictionBegan === false
  );
}

/** A short code and a message for any failure of a replacement: the search attribute ErrorCode and what people read first. */
export function summarizeFailure(error: unknown): { readonly code: string; readonly message: string } {
  const launchFailure = readLaunchFailure(error);
  if (launchFailure !== undefined) return launchFailure;
  if (error instanceof ActivityFailure) {
    const { cause } = error;
    if (cause instanceof TimeoutFailure) {
      // The server keeps the last attempt's word as the timeout's cause.
      const last = cause.cause === undefined ? '' : `: ${cause.cause.message}`;
      return { code: failureTypes.deadlineExceeded, message: `${error.activityType} did not end in time${last}` };
    }
    // No further attempt fitted into the time: the server ends the wait with the last one's word.
    if (cause instanceof ApplicationFailure && cause.type === failureTypes.waiting) {
      return { code: failureTypes.deadlineExceeded, message: `${error.activityType}: gave up: ${cause.message}` };
    }
    if (cause instanceof ApplicationFailure) {
      return { code: cause.type ?? 'Error', message: `${error.activityType}: ${cause.message}` };
    }
  }
  if (error instanceof ApplicationFailure) return { code: error.type ?? 'Error', message: error.message };
  return { code: 'Error', message: error instanceof Error ? error.message : String(error) };
}
