import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

import { ApiError, UnservedPathError } from './statusErrors.js';

/** Whether the request carries the bearer token. */
export function hasToken(request: IncomingMessage, token: string): boolean {
  const given = Buffer.from(request.headers.authorization ?? '');
  const wanted = Buffer.from(`Bearer ${token}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/** How a client gets to read objects. */
export type AnswerFormat = 'object' | 'table';

/**
 * The first format in the client's order that there is; undefined when none will do.
 * @param hasTable whether the resource can be shown as a table
 */
export function negotiateFormat(accept: string | undefined, hasTable: boolean): AnswerFormat | undefined {
  if (accept === undefined || accept === '') return 'object';
  for (const range of accept.split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    if (!['application/json', 'application/*', '*/*'].includes(type)) continue;
    const wanted = parameters.find((parameter) => parameter.startsWith('as='));
    if (wanted === undefined) return 'object';
    if (wanted === 'as=Table' && parameters.includes('v=v1') && hasTable) return 'table';
  }
  return undefined;
}

export function sendJson(response: ServerResponse, code: number, json: string, warnings: readonly string[] = []): void {
  const body = Buffer.from(json);
  if (warnings.length > 0) response.setHeader('Warning', [...warnings]);
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
  if (error instanceof UnservedPathError) {
    response.writeHead(error.code, { 'Content-Type': 'text/plain; charset=utf-8' }).end(`${error.message}\n`);
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
