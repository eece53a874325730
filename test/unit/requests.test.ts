import { describe, expect, it } from '@jest/globals';

import { checkAsker, checkCancelRequest, checkRetryRequest, checkSkipRequest } from '../../workflows/requests.js';

const nowMs = Date.UTC(2026, 0, 5, 12);
const ana = { by: 'ana', why: 'a reason' };

describe('requests as they should be', () => {
  it.each<[string, () => void]>([
    [
      'a pause or resume',
      () => {
        checkAsker(ana);
      },
    ],
    [
      'a reason of 500 characters',
      () => {
        checkAsker({ ...ana, why: 'x'.repeat(500) });
      },
    ],
    [
      'a retry of all',
      () => {
        checkRetryRequest({});
      },
    ],
    [
      'a retry of one',
      () => {
        checkRetryRequest({ nodeClaim: 'a', ...ana });
      },
    ],
    [
      'a cancel of all',
      () => {
        checkCancelRequest(ana);
      },
    ],
    [
      'a cancel of one',
      () => {
        checkCancelRequest({ nodeClaim: 'a', ...ana });
      },
    ],
  ])('%s is taken', (_, check) => {
    expect(check).not.toThrow();
  });
});

describe('the instant until which a NodeClaim is skipped', () => {
  const check = (until: string) => () => {
    checkSkipRequest({ ...ana, nodeClaim: 'a', until }, nowMs);
  };

  it.each([
    '2026-01-05T12:00:00.001Z',
    '2026-01-05T12:01Z',
    '2026-01-05T12:30:00+00:00',
    '2026-01-05T23:30:00+11:00',
    '2026-01-31T23:00:00-05:00',
    '2026-02-04T12:00:00Z',
  ])('may be %s', (until) => {
    expect(check(until)).not.toThrow();
  });

  it.each([
    ['2026-01-05T12:00:00Z', 'must lie in the future'],
    ['2026-01-05T23:00:00+11:00', 'must lie in the future'],
    ['2026-02-04T12:00:00.001Z', 'must not be more than 30 days ahead'],
    ['2026-01-06', 'must be an instant with its zone'],
    ['2026-01-06T09:00:00', 'must be an instant with its zone'],
    ['2026-01-32T09:00:00Z', 'must be an instant with its zone'],
    ['2026-01-06T25:00:00Z', 'must be an instant with its zone'],
    ['2026-02-30T09:00:00Z', 'must be an instant with its zone'],
    ['tomorrow', 'must be an instant with its zone'],
  ])('must not be %s: it %s', (until, says) => {
    expect(check(until)).toThrow(`"until" ${says}`);
  });
});
