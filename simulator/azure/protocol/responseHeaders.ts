import { randomUUID } from 'node:crypto';

import type { SimulatedClock } from '../clock.js';

/** What every answer of ARM carries. */
export function tracingHeaders(
  requestId: string,
  correlationId: string | undefined,
  location: string,
): Record<string, string> {
  const correlation = correlationId ?? randomUUID();
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
  return {
    'cache-control': 'no-cache',
    'x-ms-request-id': requestId,
    'x-ms-correlation-request-id': correlation,
    'x-ms-routing-request-id': `${location.toUpperCase()}:${time}:${requestId}`,
  };
}

/** `Retry-After` in whole real seconds, at least 1, and the exact wait beside it in milliseconds. */
export function retryAfterHeaders(clock: SimulatedClock, simulatedSeconds: number): Record<string, string> {
  const realMs = clock.realMs(simulatedSeconds * 1000);
  return {
    'retry-after': String(Math.max(1, Math.ceil(realMs / 1000))),
    'retry-after-ms': String(Math.round(realMs)),
  };
}
