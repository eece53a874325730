import type { Condition, Node, NodeClaim, NodePool } from '../karpenter/api.js';
import { blockedWhy, disruptionReasonOf } from '../karpenter/candidate.js';
import { conditionTypes, isTrue } from '../karpenter/conditions.js';
import { disruptedTaint, ownerAnnotation, workflowAnnotation } from '../karpenter/labels.js';
import { offeringOf, replacementOfferings } from '../karpenter/offering.js';
import type { Offering } from '../karpenter/offering.js';
import type { Machine } from '../karpenter/pool.js';
import { joinPool } from '../karpenter/pool.js';
import { disruption, isReplacementOf, launchNameOf, virtualMachineName } from '../karpenter/replacement.js';
import type { Launch, ReplacementRef, Reservation, Reserved } from '../workflows/replacementTypes.js';
import type { ActivityEnvironment } from './environment.js';
import { checkCluster, refuse } from './environment.js';
import {
  listNodeClaims,
  readNodeClaim,
  setNodeClaimCondition,
  updateNodeClaimStatus,
} from './kubernetes/nodeClaims.js';
import { readNodeClass, readNodePool } from './kubernetes/nodePools.js';
import type { NodeChange } from './kubernetes/nodes.js';
import { readNode, updateNode } from './kubernetes/nodes.js';

/**
 * Looks at the node live, taints it, and looks again, since somebody may have changed his mind in between. All that the replacement
 * depends on is fixed here, before the first write to ARM.
 */
export async function reserve(environment: ActivityEnvironment, ref: ReplacementRef): Promise<Reservation> {
  checkCluster(environment, ref.cluster);
  const before = await readMachine(environment, ref);
  if (before.kind !== 'candidate') return { kind: 'notNeeded', why: before.why };
  const imageId = await readImageId(environment, before.nodePool);
  await taint(environment, ref, before.machine);
  const after = await readMachine(environment, ref);
  if (after.kind !== 'candidate') return { kind: 'notNeeded', why: after.why };
  return {
    kind: 'reserved',
    offerings: offeringsOf(environment, after.nodePool, after.machine),
    imageId,
    ...(await readEarlierRounds(environment, ref)),
  };
}

type Found =
  | { readonly kind: 'candidate'; readonly nodePool: NodePool; readonly machine: Machine }
  | { readonly kind: 'none'; readonly why: string };

async function readMachine({ kubernetes }: ActivityEnvironment, ref: ReplacementRef): Promise<Found> {
  const none = (why: string): Found => ({ kind: 'none', why });
  const [nodePool, nodeClaim, node] = await Promise.all([
    readNodePool(kubernetes, ref.nodePool),
    readNodeClaim(kubernetes, ref.nodeClaim),
    readNode(kubernetes, ref.node),
  ]);
  if (nodePool === undefined) return none(`NodePool ${ref.nodePool} is gone`);
  if (nodeClaim?.metadata.uid !== ref.uid) return none('its NodeClaim is gone');
  const machine = { nodeClaim, node };
  if (disruptionReasonOf(machine) === undefined) return none(`it is no longer ${ref.reason}`);
  const why = blockedWhy(machine);
  return why === undefined ? { kind: 'candidate', nodePool, machine } : none(why);
}

/** Which offerings the pool runs on may be read from the cache: a stale answer costs an attempt at the most. */
function offeringsOf(environment: ActivityEnvironment, nodePool: NodePool, machine: Machine): readonly Offering[] {
  const pool = joinPool(nodePool, environment.nodeClaims.list(), []);
  return replacementOfferings(pool, machine, environment.settings.maxLaunchAttempts);
}

/** What earlier rounds made: the best of it is adopted, the rest removed, so that no VM is ever forgotten. */
async function readEarlierRounds(
  { kubernetes, owner }: ActivityEnvironment,
  ref: ReplacementRef,
): Promise<Pick<Reserved, 'earlier' | 'adopted'>> {
  const earlier = (await listNodeClaims(kubernetes, ref.nodePool)).flatMap((nodeClaim) => {
    const name = isReplacementOf(nodeClaim, owner, ref.uid) ? launchNameOf(nodeClaim) : undefined;
    // This round's own, after a reset or a lost answer, are found again by their names.
    return name === undefined || name.round === ref.round ? [] : [{ name, nodeClaim }];
  });
  const adopted = earlier.find(({ nodeClaim }) => isUsable(nodeClaim));
  return {
    earlier: earlier.filter((other) => other !== adopted).map(({ name }) => name),
    ...(adopted === undefined ? {} : { adopted: { name: adopted.name, launch: launchOf(adopted.nodeClaim) } }),
  };
}

function isUsable(nodeClaim: NodeClaim): boolean {
  const isLeaving = nodeClaim.metadata.deletionTimestamp !== undefined;
  return !isLeaving && isTrue(nodeClaim, conditionTypes.initialized) && !isTrue(nodeClaim, conditionTypes.drifted);
}

function launchOf(nodeClaim: NodeClaim): Launch {
  const { name, uid } = nodeClaim.metadata;
  return {
    nodeClaim: name,
    uid,
    virtualMachine: virtualMachineName(name),
    providerId: nodeClaim.status?.providerID ?? '',
    offering: offeringOf(nodeClaim) ?? { instanceType: '', zone: '', capacityType: '' },
    resumeToken: null,
  };
}

async function readImageId({ kubernetes }: ActivityEnvironment, nodePool: NodePool): Promise<string> {
  const nodeClass = await readNodeClass(kubernetes, nodePool);
  const { name } = nodePool.spec.template.spec.nodeClassRef;
  if (nodeClass === undefined) throw new Error(`AKSNodeClass ${name} does not exist`);
  const image = nodeClass.status?.images?.[0];
  if (image === undefined) throw new Error(`AKSNodeClass ${name} has no image in its status yet`);
  return image.id;
}

async function taint(
  environment: ActivityEnvironment,
  ref: ReplacementRef,
  { nodeClaim, node }: Machine,
): Promise<void> {
  const { kubernetes, owner } = environment;
  if (node === undefined) return;
  const { name, uid } = node.metadata;
  await updateNode(kubernetes, name, (live): NodeChange | undefined => {
    if (live.metadata.uid !== uid) return undefined;
    const other = otherOwner(live, environment, ref);
    if (other !== undefined) refuse(`Node ${name} is being disrupted by ${other}`);
    const taints = live.spec?.taints ?? [];
    return {
      annotations: { [ownerAnnotation]: owner, [workflowAnnotation]: ref.workflowId },
      taints: [...taints.filter(({ key }) => key !== disruptedTaint), disruption],
    };
  });
  await setNodeClaimCondition(kubernetes, nodeClaim.metadata.name, ref.uid, {
    type: conditionTypes.disruptionReason,
    status: 'True',
    reason: ref.reason,
    message: disruptionMessage(ref),
  });
}

/** Tells our DisruptionReason from anybody else's. */
function disruptionMessage({ workflowId }: ReplacementRef): string {
  return `replaced by ${workflowId}`;
}

/** Who else has tainted this node: another workflow, or somebody who left no mark. */
function otherOwner(node: Node, { owner }: ActivityEnvironment, { workflowId }: ReplacementRef): string | undefined {
  const isTainted = node.spec?.taints?.some(({ key }) => key === disruptedTaint) ?? false;
  if (!isTainted) return undefined;
  const annotations = node.metadata.annotations ?? {};
  const isOurs = annotations[ownerAnnotation] === owner && annotations[workflowAnnotation] === workflowId;
  return isOurs ? undefined : (annotations[workflowAnnotation] ?? 'somebody else');
}

/** Takes back what reserve did, from a node that is still ours and still there. */
export async function release(environment: ActivityEnvironment, ref: ReplacementRef): Promise<void> {
  checkCluster(environment, ref.cluster);
  const { kubernetes } = environment;
  const [node, nodeClaim] = await Promise.all([
    readNode(kubernetes, ref.node),
    readNodeClaim(kubernetes, ref.nodeClaim),
  ]);
  // A node on its way out takes no pods any more.
  const isLeaving = nodeClaim?.metadata.uid === ref.uid && nodeClaim.metadata.deletionTimestamp !== undefined;
  if (node !== undefined && !isLeaving) {
    await updateNode(kubernetes, ref.node, (live): NodeChange | undefined => {
      const isOurs = live.metadata.annotations?.[workflowAnnotation] === ref.workflowId;
      if (!isOurs || otherOwner(live, environment, ref) !== undefined || live.metadata.deletionTimestamp !== undefined)
        return undefined;
      return {
        annotations: { [ownerAnnotation]: null, [workflowAnnotation]: null },
        taints: (live.spec?.taints ?? []).filter(({ key }) => key !== disruptedTaint),
      };
    });
  }
  await updateNodeClaimStatus(kubernetes, ref.nodeClaim, ref.uid, (live) => {
    const conditions = live.status?.conditions ?? [];
    const isOurs = ({ type, message }: Condition): boolean =>
      type === conditionTypes.disruptionReason && message === disruptionMessage(ref);
    const left = conditions.filter((condition) => !isOurs(condition));
    const isBeingDeleted = live.metadata.deletionTimestamp !== undefined;
    return isBeingDeleted || left.length === conditions.length ? undefined : { conditions: left };
  });
}
