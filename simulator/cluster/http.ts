import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

import { ApiError } from './statusErrors.js';

/** Whether the request carries the bearer token. */
export function hasToken(request: IncomingMessage, token: string): boolean {
  const given = Buffer.from(request.headers.authorization ?? '');
  const wanted = Buffer.from(`Bearer ${token}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/** Whether plain JSON will do for the client. */
export function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined || accept === '') return true;
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    // `application/json;as=Table` asks for something else than the object.
    if (parameters.some((parameter) => parameter.startsWith('as='))) return false;
    return ['application/json', 'application/*', '*/*'].includes(type);
  });
}

export function sendJson(response: ServerResponse, code: number, json: string): void {
  const body = Buffer.from(json);
  response.writeHead(code, {
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    'Cache-Control': 'no-cache, private',
  });
  response.end(body);
}

/** Answers with the Status of the error; an answer that has begun is cut off. */
export function sendError(response: ServerResponse, error: ApiError): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { retryAfterSeconds } = error.details ?? {};
  if (retryAfterSeconds !== undefined) response.setHeader('Retry-After', String(retryAfterSeconds));
  sendJson(response, error.code, JSON.stringify(error.status));
}

/** Whatever was thrown, as what a client gets to read. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof URIError) return new ApiError(400, 'BadRequest', error.message);
  const message = error instanceof Error ? error.message : String(error);
  return new ApiError(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] });
}
