import type { MachinePart } from '../../../workflows/replacementTypes.js';
import { ArmError } from '../../azure/armError.js';
import type { VirtualMachines } from '../../azure/virtualMachines.js';

export type PartStore = Pick<VirtualMachines, 'hasPart' | 'beginDeletePart'>;

/**
 * Begins to delete what a VM that is gone has left behind, each part on its own: a NIC or disk whose deleteOption is Detach, or one
 * that Azure still reserves for a VM that came to nothing.
 * @returns what is not gone yet, in words; nothing: the VM has left nothing
 */
export async function removeParts(store: PartStore, parts: readonly MachinePart[]): Promise<readonly string[]> {
  const answers = await Promise.all(parts.map((part) => removePart(store, part)));
  return answers.filter((answer) => answer !== undefined);
}

async function removePart(store: PartStore, part: MachinePart): Promise<string | undefined> {
  try {
    if (!(await store.hasPart(part))) return undefined;
    await store.beginDeletePart(part);
    return `${part.kind} ${part.name} is being deleted`;
  } catch (error) {
    if (!(error instanceof ArmError)) throw error;
    return error.message;
  }
}
