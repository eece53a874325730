import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';

import { failureTypes } from '../workflows/failures.js';

/** Kept back from the time that is left, so that the last attempt is ours and not the server's timeout, though an API may be slow. */
function marginMs(totalMs: number): number {
  return Math.min(5_000, totalMs / 10);
}

function timeLeftMs(): number {
  const { scheduledTimestampMs, scheduleToCloseTimeoutMs } = activityInfo();
  return scheduledTimestampMs + scheduleToCloseTimeoutMs - Date.now() - marginMs(scheduleToCloseTimeoutMs);
}

/** No further attempt fits into the activity's schedule-to-close timeout: decide now. */
export function isLastAttempt(): boolean {
  return timeLeftMs() <= marginMs(activityInfo().scheduleToCloseTimeoutMs);
}

/** Milliseconds since the activity was first scheduled. */
export function waitedMs(): number {
  return Date.now() - activityInfo().scheduledTimestampMs;
}

/**
 * Ends this attempt; Temporal makes the next one after the delay. Until then no slot is held and no history is written, and a lost
 * worker costs nothing. A delay beyond the time left would fail the activity at once: it is clamped, and the last attempt fails with
 * DeadlineExceeded.
 * @param what what is waited for: people see it in the UI as the last failure
 */
export function waitAgain(what: string, delayMs: number): never {
  waitAgainIfThereIsTime(what, delayMs);
  throw ApplicationFailure.nonRetryable(
    `gave up after ${Math.round(waitedMs() / 1000)} s: ${what}`,
    failureTypes.deadlineExceeded,
  );
}

/** Ends this attempt as waitAgain does, unless it is the last one: then it returns, for the caller to decide. */
export function waitAgainIfThereIsTime(what: string, delayMs: number): void {
  if (isLastAttempt()) return;
  throw ApplicationFailure.create({
    type: failureTypes.waiting,
    message: what,
    nextRetryDelay: Math.max(1, Math.min(delayMs, timeLeftMs())),
  });
}
