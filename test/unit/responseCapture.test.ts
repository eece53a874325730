import { createHttpHeaders, createPipelineRequest } from '@azure/core-rest-pipeline';
import { describe, expect, it } from '@jest/globals';

import type { CapturedResponse } from '../../activities/azure/responseCapture.js';
import { ResponseCapture } from '../../activities/azure/responseCapture.js';

/** What is kept of an answer of ARM's. */
async function captured(headers: Record<string, string>, body = ''): Promise<CapturedResponse | undefined> {
  const capture = new ResponseCapture();
  const request = createPipelineRequest({ url: 'https://management.azure.com/' });
  return await capture.run(async (kept) => {
    await capture.policy.sendRequest(request, () =>
      Promise.resolve({ request, status: 429, headers: createHttpHeaders(headers), bodyAsText: body }),
    );
    return kept.last;
  });
}

describe('Retry-After of an answer', () => {
  const inTwoMinutes = new Date(Date.now() + 120_000).toUTCString();

  it.each<[string, Record<string, string>, number | undefined, number | undefined]>([
    ['is absent', {}, undefined, undefined],
    ['is in seconds', { 'retry-after': '17' }, 17_000, 17_000],
    ['is none at all', { 'retry-after': '0' }, 0, 0],
    ['is a date', { 'retry-after': inTwoMinutes }, 110_000, 120_000],
    ['is a date that has passed', { 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }, 0, 0],
    ['is in milliseconds, which are more exact', { 'retry-after': '2', 'retry-after-ms': '1200' }, 1_200, 1_200],
    ['is something else', { 'retry-after': 'soon' }, undefined, undefined],
  ])('%s', async (_, headers, leastMs, mostMs) => {
    const retryAfterMs = (await captured(headers))?.retryAfterMs;
    if (leastMs === undefined || mostMs === undefined) {
      expect(retryAfterMs).toBeUndefined();
      return;
    }
    expect(retryAfterMs).toBeGreaterThanOrEqual(leastMs);
    expect(retryAfterMs).toBeLessThanOrEqual(mostMs);
  });
});

describe('the body of an answer', () => {
  it('is kept as far as it tells of an operation or an error', async () => {
    const body = JSON.stringify({ status: 'Canceled', error: { code: 'OperationPreempted', message: 'preempted' } });
    expect(await captured({}, body)).toMatchObject({
      operationStatus: 'Canceled',
      error: { code: 'OperationPreempted', message: 'preempted' },
    });
  });

  it.each(['', '<html>502 Bad Gateway</html>', '[]', 'null'])('says nothing where it is %s', async (body) => {
    expect(await captured({}, body)).toMatchObject({ operationStatus: undefined, error: undefined });
  });
});
