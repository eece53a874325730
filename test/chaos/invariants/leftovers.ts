import type { Evidence, Violation } from '../evidence.js';

/** Invariant 4: nothing is left that should not be. */
export function leftoverViolations({ leftovers }: Evidence): Violation[] {
  return leftovers.found.map((what) => ({ invariant: 4, what, atMs: null }));
}
