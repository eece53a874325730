import {
  isGrpcServiceError,
  ServiceError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { TemporalFailure } from '@temporalio/common';

import { errorMessage } from '../../runtime/errors.js';

/** What Temporal or a rollout said to a request, in one line for people; undefined when it is none of their errors. */
export function temporalErrorText(error: unknown): string | undefined {
  if (error instanceof WorkflowUpdateFailedError) return innermostMessage(error);
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError)
    return 'the rollout has not answered in time: a worker of this cluster has to run; see "driftless status"';
  if (error instanceof ServiceError || isGrpcServiceError(error)) return `Temporal: ${errorMessage(error)}`;
  return undefined;
}

/** A failure may be wrapped in others that only say where it came from. */
function innermostMessage({ cause, message }: WorkflowUpdateFailedError): string {
  let innermost: Error | undefined = cause;
  while (innermost instanceof TemporalFailure && innermost.cause !== undefined) innermost = innermost.cause;
  return errorMessage(innermost ?? message);
}
