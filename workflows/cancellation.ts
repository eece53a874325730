import { ActivityFailure, CancelledFailure } from '@temporalio/common';
import { CancellationScope, isCancellation } from '@temporalio/workflow';

/**
 * The cancellation that a failure comes from, if it comes from one. An attempt that was running when it came ends with its own error
 * and is not made again: that is a cancellation too.
 */
export function readCancellation(error: unknown): Error | undefined {
  if (error instanceof Error && isCancellation(error)) return error;
  if (!(error instanceof ActivityFailure) || error.retryState !== 'CANCEL_REQUESTED') return undefined;
  return new CancelledFailure(`canceled during ${error.activityType}`, [], error);
}

/**
 * An attempt that was running when the cancellation came may succeed all the same: then nothing has been thrown yet.
 * @throws CancelledFailure when the scope has been canceled
 */
export function throwIfCanceled(): void {
  if (CancellationScope.current().consideredCancelled) throw new CancelledFailure('canceled');
}
