import { describe, expect, it } from '@jest/globals';
import { ApiException } from '@kubernetes/client-node';

import {
  hasCode,
  KubernetesError,
  request,
  requestIfFound,
  retryOnConflict,
} from '../../activities/kubernetes/request.js';
import { errorMessage } from '../../runtime/errors.js';

const read = 'read NodeClaim a';

function refuse(code: number, body: unknown): () => Promise<never> {
  return () => Promise.reject(new ApiException(code, 'Unknown API Status Code!', body, { 'audit-id': 'x' }));
}

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
}

describe('a request to the API server', () => {
  it('answers what the server answered', async () => {
    await expect(request(read, () => Promise.resolve(7))).resolves.toBe(7);
  });

  it.each<[string, number, unknown, Partial<KubernetesError>]>([
    [
      'a Status as text',
      409,
      JSON.stringify({ kind: 'Status', reason: 'Conflict', message: 'has been modified' }),
      { message: `${read}: has been modified`, code: 409, reason: 'Conflict', retryAfterSeconds: undefined },
    ],
    [
      'a Status as an object, with when to come again',
      429,
      { reason: 'TooManyRequests', message: 'later', details: { retryAfterSeconds: 10 } },
      { message: `${read}: later`, code: 429, reason: 'TooManyRequests', retryAfterSeconds: 10 },
    ],
    [
      'a Status with causes',
      429,
      { message: 'no', details: { causes: [{ reason: 'DisruptionBudget', message: 'web needs 2', field: 'x' }] } },
      { causes: [{ reason: 'DisruptionBudget', message: 'web needs 2' }] },
    ],
    ['plain text', 502, 'bad gateway', { message: `${read}: bad gateway`, code: 502, reason: '' }],
    ['no body', 503, undefined, { message: `${read}: HTTP 503`, code: 503, reason: '' }],
    ['a body that is no Status', 500, '[1]', { message: `${read}: HTTP 500`, code: 500, reason: '' }],
  ])('that is refused with %s says so in a line', async (_, code, body, expected) => {
    const error = await failureOf(request(read, refuse(code, body)));
    expect(error).toBeInstanceOf(KubernetesError);
    expect(error).toMatchObject(expected);
  });

  it('r137: has when to come again from the header when there is no Status', async () => {
    const call = (): Promise<never> =>
      Promise.reject(new ApiException(429, '', 'Too many requests', { 'retry-after': '1' }));
    expect(await failureOf(request(read, call))).toMatchObject({ code: 429, retryAfterSeconds: 1 });
  });

  it('does not carry a long answer whole', async () => {
    const error = await failureOf(request(read, refuse(500, `<html>${'x'.repeat(5_000)}`)));
    expect(errorMessage(error).length).toBeLessThan(250);
  });

  it('that found nobody keeps the cause, and tells it once', async () => {
    const cause = new Error('connect ECONNREFUSED 127.0.0.1:1');
    const error = await failureOf(request(read, () => Promise.reject(cause)));
    expect(error).not.toBeInstanceOf(KubernetesError);
    expect(error).toMatchObject({ cause });
    expect(errorMessage(error)).toBe(`${read}: connect ECONNREFUSED 127.0.0.1:1`);
  });
});

describe('a request whose object may be gone', () => {
  it('answers undefined for 404', async () => {
    await expect(requestIfFound(read, refuse(404, { reason: 'NotFound' }))).resolves.toBeUndefined();
  });

  it.each([403, 410, 500])('fails for %d all the same', async (code) => {
    await expect(requestIfFound(read, refuse(code, undefined))).rejects.toMatchObject({ code });
  });
});

describe('the code of an error', () => {
  const conflict = new KubernetesError('x', 409, 'Conflict', undefined);

  it.each<[unknown, readonly number[], boolean]>([
    [conflict, [409], true],
    [conflict, [404, 409], true],
    [conflict, [404], false],
    [conflict, [], false],
    [new Error('409'), [409], false],
    [{ code: 409 }, [409], false],
  ])('%s has one of %j: %s', (error, codes, expected) => {
    expect(hasCode(error, ...codes)).toBe(expected);
  });
});

describe('a write with a precondition', () => {
  function conflictsThenAnswers(conflicts: number): { attempt: () => Promise<string>; attempts: () => number } {
    let attempts = 0;
    return {
      attempts: () => attempts,
      attempt: () => {
        attempts += 1;
        if (attempts > conflicts) return Promise.resolve('written');
        return Promise.reject(new KubernetesError('x', 409, 'Conflict', undefined));
      },
    };
  }

  it('is tried again, with a fresh read, when somebody else was faster', async () => {
    const { attempt, attempts } = conflictsThenAnswers(7);
    await expect(retryOnConflict(attempt)).resolves.toBe('written');
    expect(attempts()).toBe(8);
  });

  it('gives up after eight conflicts', async () => {
    const { attempt, attempts } = conflictsThenAnswers(Infinity);
    await expect(retryOnConflict(attempt)).rejects.toMatchObject({ code: 409 });
    expect(attempts()).toBe(8);
  });

  it.each([404, 422, 500])('is not tried again for %d', async (code) => {
    let attempts = 0;
    const attempt = (): Promise<never> => {
      attempts += 1;
      return Promise.reject(new KubernetesError('x', code, '', undefined));
    };
    await expect(retryOnConflict(attempt)).rejects.toMatchObject({ code });
    expect(attempts).toBe(1);
  });
});
