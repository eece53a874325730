import type { NodeClaim } from '../../../karpenter/api.js';
import { conditionTypes, isTrue } from '../../../karpenter/conditions.js';
import { isWorkload } from '../../../karpenter/drain.js';
import { terminationFinalizer } from '../../../karpenter/labels.js';
import { podName } from '../../../karpenter/pods.js';
import { disruption, isReplacementOf, replacementName, virtualMachineName } from '../../../karpenter/replacement.js';
import type {
  Deletion,
  Launch,
  LaunchName,
  MachinePart,
  Removal,
  ReplacementRef,
} from '../../../workflows/replacementTypes.js';
import { ArmError } from '../../azure/armError.js';
import { partsOf } from '../../azure/machineParts.js';
import type { Accepted, VirtualMachines } from '../../azure/virtualMachines.js';
import { checkReplaceable, openReplacement } from '../../drain.js';
import { checkCluster, refuse } from '../../environment.js';
import {
  deleteNodeClaim,
  readNodeClaim,
  setFinalizer,
  setNodeClaimCondition,
  trueCondition,
} from '../../kubernetes/nodeClaims.js';
import { deleteNode, readNode } from '../../kubernetes/nodes.js';
import { listPodsOnNode } from '../../kubernetes/pods.js';
import { waitDelayMs } from '../../waitDelay.js';
import { waitAgain } from '../../waiting.js';
import type { ArmEnvironment } from './armEnvironment.js';
import { clampDelay, retryDelay, waitForFirstLook } from './pollDelay.js';
import { removeParts } from './removeParts.js';

/** Deletes the old node, once its replacement is there or it is empty: NodeClaim, VM, then the condition that frees the permit. */
export async function beginDeletion(
  environment: ArmEnvironment,
  ref: ReplacementRef,
  launch: Launch | null,
): Promise<Deletion> {
  checkCluster(environment, ref.cluster);
  const nodeClaim = await readNodeClaim(environment.kubernetes, ref.nodeClaim);
  if (nodeClaim?.metadata.uid !== ref.uid) refuse(`NodeClaim ${ref.nodeClaim} is gone`);
  // An attempt whose answer was lost has begun it: with its VM gone the Node may be, too, and there is no way back.
  if (nodeClaim.metadata.deletionTimestamp === undefined) await checkReplaceable(environment, ref, launch);
  const { providerID } = nodeClaim.status ?? {};
  const virtualMachine = providerID === undefined ? undefined : environment.virtualMachines.nameOf(providerID);
  if (virtualMachine === undefined)
    refuse(`NodeClaim ${ref.nodeClaim}: ${String(providerID)} is no VM of this resource group`);
  return await beginDelete(environment, nodeClaim, virtualMachine);
}

/** Removes a replacement that is not wanted any more. One that pods have come to, or will, stays. */
export async function beginRemoval(
  environment: ArmEnvironment,
  ref: ReplacementRef,
  { round, attempt }: LaunchName,
  evictionBegan: boolean,
): Promise<Removal> {
  checkCluster(environment, ref.cluster);
  const { kubernetes, owner } = environment;
  const name = replacementName(ref.nodePool, ref.uid, round, attempt);
  const nodeClaim = await readNodeClaim(kubernetes, name);
  // The NodeClaim is made before the VM and outlives it: without one there is no VM.
  if (nodeClaim === undefined) return { kind: 'nothing' };
  if (!isReplacementOf(nodeClaim, owner, ref.uid)) {
    refuse(`NodeClaim ${name} is not a replacement of ${ref.nodeClaim}`);
  }
  const why = await whyKept(environment, nodeClaim, evictionBegan);
  if (why === undefined)
    return { kind: 'deleting', deletion: await beginDelete(environment, nodeClaim, virtualMachineName(name)) };
  await openReplacement(environment, virtualMachineName(name));
  return { kind: 'kept', why: `${name} stays: ${why}` };
}

async function whyKept(
  { kubernetes }: ArmEnvironment,
  nodeClaim: NodeClaim,
  evictionBegan: boolean,
): Promise<string | undefined> {
  if (!isTrue(nodeClaim, conditionTypes.initialized)) return undefined;
  if (evictionBegan) return 'pods of the old node may be on their way to it';
  const pods = await listPodsOnNode(kubernetes, virtualMachineName(nodeClaim.metadata.name));
  const workload = pods.find((pod) => isWorkload(pod, disruption));
  return workload === undefined ? undefined : `pod ${podName(workload)} runs on it`;
}

async function beginDelete(
  environment: ArmEnvironment,
  nodeClaim: NodeClaim,
  virtualMachine: string,
): Promise<Deletion> {
  const { kubernetes, virtualMachines, settings } = environment;
  const { name, uid } = nodeClaim.metadata;
  // It keeps the NodeClaim until the VM is gone: no VM is ever without one.
  await setFinalizer(kubernetes, name, uid, terminationFinalizer, true);
  await deleteNodeClaim(kubernetes, name, uid);
  let accepted: Accepted;
  let parts: readonly MachinePart[];
  try {
    parts = partsOf(await virtualMachines.get(virtualMachine), virtualMachine);
    accepted = await virtualMachines.beginDelete(virtualMachine);
  } catch (error) {
    if (!(error instanceof ArmError)) throw error;
    return waitAgain(error.message, retryDelay(settings, error));
  }
  await setNodeClaimCondition(kubernetes, name, uid, trueCondition(conditionTypes.instanceTerminating));
  return { nodeClaim: name, uid, virtualMachine, parts, ...accepted };
}

/** Follows a deletion until ARM no longer knows the VM and what was made with it, then removes the Node and lets the NodeClaim go. */
export async function followDeletion(
  environment: ArmEnvironment,
  ref: ReplacementRef,
  deletion: Deletion,
): Promise<void> {
  checkCluster(environment, ref.cluster);
  await waitForVirtualMachineGone(environment, deletion);
  await waitForPartsGone(environment, deletion);
  const held = await endDeletion(environment, environment.virtualMachines, deletion);
  if (held !== undefined) waitAgain(held, waitDelayMs(environment));
}

/**
 * Removes the Node of a VM that is gone, and lets its NodeClaim go.
 * @returns what keeps the NodeClaim all the same: a finalizer of somebody else, who alone may take it off
 */
export async function endDeletion(
  { kubernetes }: Pick<ArmEnvironment, 'kubernetes'>,
  virtualMachines: Pick<VirtualMachines, 'nameOf'>,
  deletion: Omit<Deletion, 'resumeToken'>,
): Promise<string | undefined> {
  const node = await readNode(kubernetes, deletion.virtualMachine);
  // ARM ids are case-insensitive, and a Node of that name may by now belong to another VM.
  const isItsNode =
    virtualMachines.nameOf(node?.spec?.providerID ?? '')?.toLowerCase() === deletion.virtualMachine.toLowerCase();
  if (node !== undefined && isItsNode) await deleteNode(kubernetes, node);
  const { nodeClaim: name, uid } = deletion;
  await setFinalizer(kubernetes, name, uid, terminationFinalizer, false);
  const live = await readNodeClaim(kubernetes, name);
  if (live?.metadata.uid !== uid) return undefined;
  return `stuck finalizer: NodeClaim ${name} is kept by ${(live.metadata.finalizers ?? []).join(', ')}`;
}

async function waitForVirtualMachineGone(environment: ArmEnvironment, deletion: Deletion): Promise<void> {
  const { virtualMachines, settings } = environment;
  const { virtualMachine, resumeToken } = deletion;
  waitForFirstLook(settings, deletion);
  try {
    const state = resumeToken === null ? undefined : await virtualMachines.look(resumeToken);
    if (state?.kind === 'running')
      return waitAgain('the VM is being deleted', clampDelay(settings, state.retryAfterMs));
    const live = await virtualMachines.get(virtualMachine);
    if (live === undefined) return;
    // A delete that failed is begun again; while one is under way this changes nothing.
    if (live.provisioningState !== 'Deleting') await virtualMachines.beginDelete(virtualMachine);
    return waitAgain(
      `the VM still exists, in state ${String(live.provisioningState)}`,
      clampDelay(settings, undefined),
    );
  } catch (error) {
    if (!(error instanceof ArmError)) throw error;
    return waitAgain(error.message, retryDelay(settings, error));
  }
}

async function waitForPartsGone(
  { virtualMachines, settings }: ArmEnvironment,
  { virtualMachine, parts = partsOf(undefined, virtualMachine) }: Deletion,
): Promise<void> {
  const left = await removeParts(virtualMachines, parts);
  if (left.length > 0)
    waitAgain(`the VM is gone, but not all of it: ${left.join('; ')}`, clampDelay(settings, undefined));
}
