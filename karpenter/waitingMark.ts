import type { Taint } from './api.js';
import { waitingTaint } from './labels.js';
import type { Pool } from './pool.js';
import { isDeleting, isMarkedWaiting } from './pool.js';

/** Makes pods rather go elsewhere while a node waits for its replacement, so that each moves once. */
export const waitingMark: Taint = { key: waitingTaint, effect: 'PreferNoSchedule' };

/** A node whose soft taint is not as it should be. */
export interface MarkChange {
  readonly node: string;
  readonly isWaiting: boolean;
}

/**
 * Which nodes have to get the soft taint, and which to lose it. Those in flight, or about to be, are left as they are: their workflows
 * look after them. So are those that are being deleted.
 * @param waiting UIDs of the NodeClaims that wait
 * @param replacing names of the NodeClaims that a running workflow replaces, or that start now
 */
export function findMarkChanges(
  { machines }: Pool,
  waiting: ReadonlySet<string>,
  replacing: ReadonlySet<string>,
): readonly MarkChange[] {
  return machines.flatMap((machine) => {
    const { name, uid } = machine.nodeClaim.metadata;
    const isWaiting = waiting.has(uid);
    if (machine.node === undefined || isDeleting(machine) || replacing.has(name)) return [];
    if (isMarkedWaiting(machine) === isWaiting) return [];
    return [{ node: machine.node.metadata.name, isWaiting }];
  });
}
