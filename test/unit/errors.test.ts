import { describe, expect, it } from '@jest/globals';

import { errorMessage } from '../../runtime/errors.js';

const refused = new Error('connect ECONNREFUSED 127.0.0.1:1');

describe('the message of an error', () => {
  it.each<[string, unknown, string]>([
    ['is its own', new Error('no room'), 'no room'],
    [
      'has the causes after it',
      new Error('read x', { cause: new Error('fetch failed', { cause: refused }) }),
      'read x: fetch failed: connect ECONNREFUSED 127.0.0.1:1',
    ],
    [
      'has no cause twice that it quotes itself',
      new Error(`read x: ${refused.message}`, { cause: refused }),
      'read x: connect ECONNREFUSED 127.0.0.1:1',
    ],
    ['is the text of anything else that was thrown', 'plain text', 'plain text'],
    ['shows a cause that is no error', new Error('stopped', { cause: 42 }), 'stopped: 42'],
  ])('%s', (_, error, expected) => {
    expect(errorMessage(error)).toBe(expected);
  });
});
