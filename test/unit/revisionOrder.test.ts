import { describe, expect, it } from '@jest/globals';

import { inOrderOfRevision } from '../../demo/cluster/revisionOrder.js';

function order(...seen: readonly (readonly [at: number, revision: number | undefined, what: string])[]) {
  const writes = seen.map(([at, revision, what]) => ({ at, revision, what }));
  return inOrderOfRevision(writes).map(({ at, what }) => [at, what]);
}

describe('the order of writes by their revision', () => {
  it('puts a write that was seen too late before the one that followed it, at the same instant', () => {
    expect(order([10, 2, 'second'], [12, 1, 'first'], [20, 3, 'third'])).toEqual([
      [10, 'first'],
      [10, 'second'],
      [20, 'third'],
    ]);
  });

  it('moves a late write before all that followed it, not only the next', () => {
    expect(order([11, 2, 'second'], [10, 3, 'third'], [12, 1, 'first'])).toEqual([
      [10, 'first'],
      [10, 'second'],
      [10, 'third'],
    ]);
  });

  it('leaves what has no revision at its instant', () => {
    expect(order([10, 1, 'first'], [15, undefined, 'eviction'], [20, 2, 'second'])).toEqual([
      [10, 'first'],
      [15, 'eviction'],
      [20, 'second'],
    ]);
  });

  it('does not take a revision that was seen before for a write: a patch that changed nothing stays where it was', () => {
    expect(order([10, 1, 'first'], [12, 2, 'second'], [30, 1, 'nothing new'])).toEqual([
      [10, 'first'],
      [12, 'second'],
      [30, 'nothing new'],
    ]);
  });
});
