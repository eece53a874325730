import { disruptedTaint, workflowAnnotation } from './labels.js';
import type { PhaseRow } from './phase.js';
import { readPhases } from './phase.js';
import type { Machine, Pool } from './pool.js';
import { isDeleting, isTainted } from './pool.js';

/** A node in the hands of a replacement of ours. */
export interface UnderReplacement extends PhaseRow {
  readonly machine: Machine;
  /** The newest replacement, if there is one. */
  readonly replacementMachine: Machine | undefined;
  /** The id of its workflow, by the marks on the objects. */
  readonly workflowId: string | undefined;
}

/** Whom replacements of ours have in hand, as far as the cluster shows it: without Temporal nobody knows whether they still run. */
export function findUnderReplacement(pool: Pool): readonly UnderReplacement[] {
  const byUid = new Map(pool.machines.map((machine) => [machine.nodeClaim.metadata.uid, machine]));
  const byName = new Map(pool.machines.map((machine) => [machine.nodeClaim.metadata.name, machine]));
  return readPhases(pool, new Set()).flatMap((row) => {
    const machine = byUid.get(row.uid);
    if (machine === undefined) return [];
    const replacementMachine = row.replacement === undefined ? undefined : byName.get(row.replacement);
    const workflowId =
      machine.node?.metadata.annotations?.[workflowAnnotation] ??
      replacementMachine?.nodeClaim.metadata.annotations?.[workflowAnnotation];
    const isOurs = workflowId !== undefined || replacementMachine !== undefined;
    return isOurs ? [{ ...row, machine, replacementMachine, workflowId }] : [];
  });
}

/** What makes a node that no replacement of ours has in hand count as disrupted, in words for people. */
export function disruptedByOthersWhy(machine: Machine): string {
  if (isDeleting(machine)) return 'it is being deleted';
  if (isTainted(machine)) return `somebody else tainted its Node ${disruptedTaint}`;
  return 'its Node is not Ready';
}
