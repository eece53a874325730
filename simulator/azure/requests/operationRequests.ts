import { ArmError, gatewayError, notSimulated } from '../protocol/armError.js';
import type { ArmAnswer, ArmRequest } from '../protocol/armRequest.js';
import type { Operation } from '../protocol/operations.js';
import { retryAfterHeaders } from '../protocol/responseHeaders.js';
import { networkInterfaceDeleteSeconds } from '../resources/networkInterfaces.js';
import type { RequestContext } from './context.js';

function findOrThrow(context: RequestContext, request: ArmRequest, operationId: string): Operation {
  if (request.method !== 'GET') throw notSimulated(`${request.method} on an operation`);
  if (!context.operations.isSigned(operationId, request.query)) {
    throw gatewayError(403, 'AuthorizationFailed', 'The signature of the operation URL is not valid.');
  }
  const operation = context.operations.find(operationId);
  if (operation === undefined) throw operationNotFound(operationId);
  return operation;
}

function operationNotFound(operationId: string): ArmError {
  return new ArmError(404, 'NotFound', `The operation '${operationId}' was not found.`);
}

/** How Azure-AsyncOperation tells of an operation: 200 whatever became of it, with Retry-After once. */
function statusAnswer(context: RequestContext, operation: Operation): ArmAnswer {
  const { startTime, outcome, id } = operation;
  const saysWhen = outcome.status === 'InProgress' && !operation.isPolled;
  operation.isPolled = true;
  return {
    status: 200,
    body: { startTime, ...outcome, name: id },
    headers: saysWhen ? retryAfterHeaders(context.clock, context.retryAfterSeconds) : {},
  };
}

/** How Location tells of it: 202 until the end, then what the request itself would have answered. */
function resultAnswer(
  context: RequestContext,
  request: ArmRequest,
  operation: Operation,
  retryAfterSeconds: number,
): ArmAnswer {
  const { outcome } = operation;
  switch (outcome.status) {
    case 'InProgress':
      return {
        status: 202,
        headers: {
          location: `${request.origin}${request.path}?${request.query.toString()}`,
          ...retryAfterHeaders(context.clock, retryAfterSeconds),
        },
      };
    case 'Succeeded':
      return { status: 204 };
    case 'Failed':
    case 'Canceled':
      throw new ArmError(409, outcome.error.code, outcome.error.message);
  }
}

/** Polls of an operation of Microsoft.Compute. @throws ArmError */
export function handleOperation(context: RequestContext, request: ArmRequest, operationId: string): ArmAnswer {
  const operation = findOrThrow(context, request, operationId);
  if (context.faults.takeOperationEffect('getOperation', operation.subject) !== undefined) operation.gone = true;
  if (operation.gone) throw operationNotFound(operationId);
  const answer =
    request.query.get('monitor') === 'true'
      ? resultAnswer(context, request, operation, context.retryAfterSeconds)
      : statusAnswer(context, operation);
  return { ...answer, headers: { ...answer.headers, ...context.rateLimits.count('GetOperation') } };
}

/** Polls of an operation of Microsoft.Network. @throws ArmError */
export function handleOperationResult(context: RequestContext, request: ArmRequest, operationId: string): ArmAnswer {
  const operation = findOrThrow(context, request, operationId);
  return resultAnswer(context, request, operation, networkInterfaceDeleteSeconds);
}
