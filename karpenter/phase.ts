import { conditionTypes, isTrue } from './conditions.js';
import { replacesAnnotation } from './labels.js';
import type { Machine, Pool } from './pool.js';
import { isDeleting, isTainted } from './pool.js';

/** Where one replacement is, as the cluster shows it; the same words stand in the search attribute `Phase`. */
export const phases = ['Reserve', 'Launch', 'Initialize', 'Drain', 'Delete'] as const;
export type Phase = (typeof phases)[number];

/** A node on its way to be replaced, read from the cluster alone. */
export interface PhaseRow {
  readonly nodeClaim: string;
  readonly uid: string;
  readonly phase: Phase;
  /** Name of the newest replacement NodeClaim, if there is one. */
  readonly replacement: string | undefined;
}

function phaseOf(machine: Machine, replacement: Machine | undefined): Phase {
  if (isDeleting(machine)) return 'Delete';
  if (replacement === undefined) return 'Reserve';
  if (isTrue(replacement.nodeClaim, conditionTypes.initialized)) return 'Drain';
  return isTrue(replacement.nodeClaim, conditionTypes.registered) ? 'Initialize' : 'Launch';
}

function createdAt({ nodeClaim }: Machine): string {
  return nodeClaim.metadata.creationTimestamp ?? '';
}

/** The phase of every node that is being replaced: tainted, or deleted with a replacement, or known to be in flight. */
export function readPhases(pool: Pool, inFlight: ReadonlySet<string>): readonly PhaseRow[] {
  const replacements = new Map<string, Machine>();
  for (const machine of pool.machines) {
    const replaces = machine.nodeClaim.metadata.annotations?.[replacesAnnotation];
    // A replacement that failed is being removed: it says nothing about where its node is now.
    if (replaces === undefined || isDeleting(machine)) continue;
    const other = replacements.get(replaces);
    if (other === undefined || createdAt(machine) >= createdAt(other)) replacements.set(replaces, machine);
  }
  return pool.machines
    .filter(
      (machine) =>
        isTainted(machine) ||
        inFlight.has(machine.nodeClaim.metadata.name) ||
        (isDeleting(machine) && replacements.has(machine.nodeClaim.metadata.uid)),
    )
    .map((machine) => {
      const { name, uid } = machine.nodeClaim.metadata;
      const replacement = replacements.get(uid);
      return {
        nodeClaim: name,
        uid,
        phase: phaseOf(machine, replacement),
        replacement: replacement?.nodeClaim.metadata.name,
      };
    });
}
