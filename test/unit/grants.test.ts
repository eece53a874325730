import { describe, expect, it } from '@jest/globals';

import { Grants } from '../../activities/grants.js';

const atMs = Date.UTC(2026, 0, 5, 12);

describe('grants', () => {
  it('are what the last look at each other pool has let start', () => {
    const grants = new Grants();
    grants.record('a', ['a-1', 'a-2'], atMs);
    grants.record('b', ['b-1'], atMs);
    expect(grants.elsewhere('a', atMs)).toEqual(['b-1']);
    expect(grants.elsewhere('c', atMs)).toEqual(['a-1', 'a-2', 'b-1']);
    grants.record('a', ['a-2'], atMs);
    expect(grants.elsewhere('b', atMs)).toEqual(['a-2']);
    grants.record('a', [], atMs);
    expect(grants.elsewhere('b', atMs)).toEqual([]);
  });

  it('are forgotten when nobody has taken them up for a minute: from then on the taints tell', () => {
    const grants = new Grants();
    grants.record('a', ['a-1'], atMs);
    expect(grants.elsewhere('b', atMs + 59_999)).toEqual(['a-1']);
    expect(grants.elsewhere('b', atMs + 60_000)).toEqual([]);
  });
});
