import type { NodeClaim } from '../karpenter/api.js';
import { conditionTypes } from '../karpenter/conditions.js';
import { replacesAnnotation } from '../karpenter/labels.js';
import { isReplacementOf, virtualMachineName } from '../karpenter/replacement.js';
import type { MachinePart } from '../workflows/replacementTypes.js';
import { partsOf } from './azure/machineParts.js';
import type { ActivityEnvironment } from './environment.js';
import { setNodeClaimCondition, trueCondition } from './kubernetes/nodeClaims.js';
import { endDeletion } from './launcher/arm/delete.js';
import type { PartStore } from './launcher/arm/removeParts.js';
import { removeParts } from './launcher/arm/removeParts.js';

/** The VMs that NodeClaims without a workflow stand for. */
export interface OrphanMachines extends PartStore {
  nameOf(providerId: string): string | undefined;
  get(name: string): Promise<unknown>;
  beginDelete(name: string): Promise<unknown>;
}

/**
 * Goes one step on with a deletion that nobody looks after: begins the VM's, then that of its NIC and disk if they have stayed; once
 * all are gone, removes the Node and lets the NodeClaim go. What is there is read live.
 * @param mayDelete a VM that is still there may be deleted, and what it has left
 * @returns what was done, as a sweep's finding says it
 */
export async function bringDeletionToItsEnd(
  environment: Pick<ActivityEnvironment, 'kubernetes' | 'owner'>,
  machines: OrphanMachines,
  nodeClaim: NodeClaim,
  mayDelete: boolean,
): Promise<string> {
  const { name, uid } = nodeClaim.metadata;
  const virtualMachine = machineOf(environment, machines, nodeClaim);
  if (virtualMachine === undefined) return 'stays: its providerID is no VM of this resource group';
  if ((await machines.get(virtualMachine)) === undefined) {
    const parts = partsOf(undefined, virtualMachine);
    const left = mayDelete ? await removeParts(machines, parts) : await partsLeft(machines, parts);
    if (left.length > 0) return mayDelete ? 'deleting' : 'reported';
    const held = await endDeletion(environment, machines, { nodeClaim: name, uid, virtualMachine });
    return held === undefined ? 'removed' : `stays: ${held}`;
  }
  if (!mayDelete) return 'reported';
  await machines.beginDelete(virtualMachine);
  await setNodeClaimCondition(environment.kubernetes, name, uid, trueCondition(conditionTypes.instanceTerminating));
  return 'deleting';
}

async function partsLeft(machines: OrphanMachines, parts: readonly MachinePart[]): Promise<readonly MachinePart[]> {
  const isThere = await Promise.all(parts.map((part) => machines.hasPart(part)));
  return parts.filter((_, index) => isThere[index]);
}

/** By its providerID; a replacement that never had one got as far as the VM of its own name, or nowhere. */
function machineOf(
  { owner }: Pick<ActivityEnvironment, 'owner'>,
  machines: OrphanMachines,
  nodeClaim: NodeClaim,
): string | undefined {
  const { metadata, status } = nodeClaim;
  if (status?.providerID !== undefined) return machines.nameOf(status.providerID);
  const replaces = metadata.annotations?.[replacesAnnotation] ?? '';
  return isReplacementOf(nodeClaim, owner, replaces) ? virtualMachineName(metadata.name) : undefined;
}
