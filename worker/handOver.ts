import type { Context } from '@temporalio/activity';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import type { ActivityInterceptors } from '@temporalio/worker';

import { failureTypes } from '../workflows/failures.js';

/** The SDK's word when the grace time of a stopping worker is over. */
const workerShutdown = 'WORKER_SHUTDOWN';

async function untilGraceIsOver({ cancelled }: Context): Promise<never> {
  try {
    return await cancelled;
  } catch (error) {
    if (error instanceof CancelledFailure && error.message === workerShutdown) {
      throw ApplicationFailure.create({
        type: failureTypes.waiting,
        message: 'its worker has stopped, another one goes on',
        nextRetryDelay: 1,
      });
    }
    // Every other cancellation is the activity's own matter.
    return await new Promise<never>(() => undefined);
  }
}

/**
 * An attempt that has not ended when the grace time of its worker is over ends there and then, and another worker makes the next one:
 * without a word, Temporal would wait for the attempt's timeout. What the attempt had begun is found and adopted, as after a crash.
 */
export function handOverAtStop(context: Context): ActivityInterceptors {
  return { inbound: { execute: (input, next) => Promise.race([next(input), untilGraceIsOver(context)]) } };
}
