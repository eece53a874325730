import type { Taint } from './api.js';
import { waitingTaint } from './labels.js';
import type { Pool } from './pool.js';
import { isMarkedWaiting } from './pool.js';

/** Makes pods rather go elsewhere while a node waits for its replacement, so that each moves once. */
export const waitingMark: Taint = { key: waitingTaint, effect: 'PreferNoSchedule' };

/** A node whose soft taint is not as it should be. */
export interface MarkChange {
  readonly node: string;
  readonly isWaiting: boolean;
}

/**
 * Which nodes have to get the soft taint, and which to lose it. Nodes in flight are left as they are: their workflows look after them.
 * @param waiting UIDs of the NodeClaims that wait
 * @param inFlight names of the NodeClaims that a running workflow replaces
 */
export function findMarkChanges(
  { machines }: Pool,
  waiting: ReadonlySet<string>,
  inFlight: ReadonlySet<string>,
): readonly MarkChange[] {
  return machines.flatMap((machine) => {
    const { name, uid } = machine.nodeClaim.metadata;
    const isWaiting = waiting.has(uid);
    if (machine.node === undefined || inFlight.has(name) || isMarkedWaiting(machine) === isWaiting) return [];
    return [{ node: machine.node.metadata.name, isWaiting }];
  });
}
