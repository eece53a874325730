import { ApiException } from '@kubernetes/client-node';

function statusCode(error: unknown): number | undefined {
  return error instanceof ApiException ? error.code : undefined;
}

/** The API server says that the object does not exist (any more). */
export function isNotFound(error: unknown): boolean {
  return statusCode(error) === 404;
}

/** What was known when the request was made is out of date: the answer is to look again, not to worry. */
export function isOutOfDate(error: unknown): boolean {
  return statusCode(error) === 404 || statusCode(error) === 409;
}
