import { ApplicationFailure } from '@temporalio/common';

import { failureTypes } from './failures.js';
import type { Asker, CancelRequest, RetryRequest, SkipRequest } from './messages.js';

const longestTextLength = 500;
const longestSkipMs = 30 * 24 * 3_600_000;

/** @throws ApplicationFailure of type InvalidRequest */
export function refuseRequest(message: string): never {
  throw ApplicationFailure.nonRetryable(message, failureTypes.invalidRequest);
}

/** What people send comes from the UI and the command line: it is read as if nothing were known of it. */
function checkText(field: string, value: unknown): void {
  if (typeof value !== 'string' || value.trim() === '') refuseRequest(`"${field}" must be a text that is not empty`);
  if (/[\r\n]/.test(value)) refuseRequest(`"${field}" must be one line`);
  if (value.length > longestTextLength)
    refuseRequest(`"${field}" must not be longer than ${longestTextLength} characters`);
}

function checkObject(request: unknown, example: string): void {
  if (typeof request !== 'object' || request === null || Array.isArray(request))
    refuseRequest(`the update needs one argument such as ${example}`);
}

/** @throws ApplicationFailure of type InvalidRequest, naming the field and what would be right */
export function checkAsker(request: Asker): void {
  checkObject(request, '{"by": "ana", "why": "the reason"}');
  checkText('by', request.by);
  checkText('why', request.why);
}

/** @throws ApplicationFailure of type InvalidRequest, naming the field and what would be right */
export function checkRetryRequest(request: RetryRequest): void {
  checkObject(request, '{} or {"nodeClaim": "NAME"}');
  if (request.nodeClaim !== undefined) checkText('nodeClaim', request.nodeClaim);
  if (request.by !== undefined) checkText('by', request.by);
  if (request.why !== undefined) checkText('why', request.why);
}

/** @throws ApplicationFailure of type InvalidRequest, naming the field and what would be right */
export function checkCancelRequest(request: CancelRequest): void {
  checkAsker(request);
  if (request.nodeClaim !== undefined) checkText('nodeClaim', request.nodeClaim);
}

/** @throws ApplicationFailure of type InvalidRequest, naming the field and what would be right */
export function checkSkipRequest(request: SkipRequest, nowMs: number): void {
  checkObject(request, '{"nodeClaim": "NAME", "until": "2026-01-05T09:00:00Z", "by": "ana", "why": "the reason"}');
  checkText('nodeClaim', request.nodeClaim);
  checkText('until', request.until);
  const untilMs = parseInstantMs(request.until);
  if (untilMs === undefined) refuseRequest('"until" must be an instant with its zone, such as 2026-01-05T09:00:00Z');
  if (untilMs <= nowMs) refuseRequest(`"until" must lie in the future, ${request.until} does not`);
  if (untilMs > nowMs + longestSkipMs) refuseRequest('"until" must not be more than 30 days ahead');
  checkAsker(request);
}

/** Local times follow a worker's clock: an instant has to say its zone. A day that its month does not have is none. */
function parseInstantMs(text: string): number | undefined {
  const [, day] = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/.exec(text) ?? [];
  const [instantMs, dayMs] = [Date.parse(text), Date.parse(`${day ?? ''}T00:00:00Z`)];
  if (Number.isNaN(instantMs) || Number.isNaN(dayMs)) return undefined;
  // JavaScript reads the 31st of February as the 3rd of March.
  return new Date(dayMs).toISOString().slice(0, 10) === day ? instantMs : undefined;
}
