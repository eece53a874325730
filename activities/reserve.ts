import type { Node, NodeClaim, NodeClass, NodePool, Pod } from '../karpenter/api.js';
import { isEmpty } from '../karpenter/candidate.js';
import { conditionTypes, isTrue } from '../karpenter/conditions.js';
import { disruptionMark } from '../karpenter/disruptionMark.js';
import type { Disruption } from '../karpenter/disruptionReason.js';
import { disruptionOf, isBornDrifted } from '../karpenter/disruptionReason.js';
import { disruptedTaint, ownerAnnotation, waitingTaint, workflowAnnotation } from '../karpenter/labels.js';
import { offeringOf } from '../karpenter/offering.js';
import { notNowWhy } from '../karpenter/notNow.js';
import type { Machine, Pool } from '../karpenter/pool.js';
import { isStatic, joinPool } from '../karpenter/pool.js';
import { poolClosedWhy } from '../karpenter/poolClosed.js';
import {
  disruption as disruptionTaint,
  isReplacementOf,
  launchNameOf,
  virtualMachineName,
} from '../karpenter/replacement.js';
import { formatResources } from '../karpenter/resources.js';
import { terminationGracePeriodMs } from '../karpenter/termination.js';
import type {
  Adopted,
  Launch,
  LaunchName,
  ReplacementRef,
  Reservation,
  Reserved,
} from '../workflows/replacementTypes.js';
import type { ActivityEnvironment } from './environment.js';
import { checkCluster, refuse } from './environment.js';
import { listNodeClaims, readNodeClaim, setNodeClaimCondition } from './kubernetes/nodeClaims.js';
import { readNodeClass, readNodePool } from './kubernetes/nodePools.js';
import type { NodeChange } from './kubernetes/nodes.js';
import { readNode, updateNode } from './kubernetes/nodes.js';
import { otherOwner } from './release.js';
import { listPodsOnNode } from './kubernetes/pods.js';
import { chooseOfferings, readShape } from './offerings.js';

/**
 * Looks at the node live, taints it, and looks again, since somebody may have changed his mind in between, or a pod have come. All
 * that the replacement depends on is fixed here, before the first write to ARM.
 */
export async function reserve(environment: ActivityEnvironment, ref: ReplacementRef): Promise<Reservation> {
  checkCluster(environment, ref.cluster);
  const before = await look(environment, ref);
  if (before.kind !== 'candidate') return { kind: 'notNeeded', why: before.why };
  const imageId = imageIdOf(before.nodeClass);
  await taint(environment, ref, before);
  const after = await look(environment, ref);
  if (after.kind !== 'candidate') return { kind: 'notNeeded', why: after.why };
  const { earlier, adopted } = await readEarlierRounds(environment, ref);
  if (isEmpty(after.machine) && !isStatic(after.nodePool)) {
    return {
      kind: 'empty',
      terminationGracePeriodMs: terminationGracePeriodMs(after.machine.nodeClaim),
      earlier: [...earlier, ...(adopted === undefined ? [] : [adopted.name])],
    };
  }
  return {
    kind: 'reserved',
    ...(await offeringsOf(environment, after.nodePool, after.machine)),
    imageId,
    terminationGracePeriodMs: terminationGracePeriodMs(after.machine.nodeClaim),
    earlier,
    ...(adopted === undefined ? {} : { adopted }),
  };
}

interface Candidate {
  readonly kind: 'candidate';
  readonly nodePool: NodePool;
  readonly nodeClass: NodeClass;
  readonly machine: Machine;
  readonly disruption: Disruption;
}

type Look = Candidate | { readonly kind: 'none'; readonly why: string };

/** One live look at the node and all that could stand against its replacement, with the rules by which it was chosen. */
async function look(environment: ActivityEnvironment, ref: ReplacementRef): Promise<Look> {
  const none = (why: string): Look => ({ kind: 'none', why });
  const { kubernetes, settings } = environment;
  const [nodePool, nodeClaim, node, podsOnNode] = await Promise.all([
    readNodePool(kubernetes, ref.nodePool),
    readNodeClaim(kubernetes, ref.nodeClaim),
    readNode(kubernetes, ref.node),
    listPodsOnNode(kubernetes, ref.node),
  ]);
  if (nodePool === undefined) return none(`NodePool ${ref.nodePool} is gone`);
  if (nodeClaim?.metadata.uid !== ref.uid) return none('its NodeClaim is gone');
  const nodeClass = await readNodeClass(kubernetes, nodePool);
  const pool = poolAround(environment, { nodePool, nodeClass, nodeClaim, node, podsOnNode });
  const now = Date.now();
  const closed = poolClosedWhy(pool, []);
  if (closed !== undefined || nodeClass === undefined) return none(closed ?? 'its NodeClass is gone');
  const disruption = disruptionOf(nodePool, nodeClaim, settings.candidates, now);
  if (disruption === undefined) return none(`it is no longer ${ref.reason}`);
  const [machine] = pool.machines;
  if (machine === undefined) return none(`it is no longer of NodePool ${ref.nodePool}`);
  const notNow = notNowWhy(pool, machine, disruption, settings.candidates, now);
  return notNow === undefined ? { kind: 'candidate', nodePool, nodeClass, machine, disruption } : none(notNow.why);
}

interface LivePart {
  readonly nodePool: NodePool;
  readonly nodeClass: NodeClass | undefined;
  readonly nodeClaim: NodeClaim;
  readonly node: Node | undefined;
  readonly podsOnNode: readonly Pod[];
}

/** A pool of this one node. Pods that have none yet, and disruption budgets, come from the cache: the Eviction API has the last word. */
function poolAround({ pods, podDisruptionBudgets }: ActivityEnvironment, part: LivePart): Pool {
  const pending = pods.list().filter(({ spec }) => spec.nodeName === undefined);
  return joinPool({
    nodePool: part.nodePool,
    nodeClass: part.nodeClass,
    nodeClaims: [part.nodeClaim],
    nodes: part.node === undefined ? [] : [part.node],
    pods: [...part.podsOnNode, ...pending],
    podDisruptionBudgets: podDisruptionBudgets.list(),
  });
}

/** Fixes what the replacement has to have room for, and the offerings that do. */
async function offeringsOf(
  environment: ActivityEnvironment,
  nodePool: NodePool,
  machine: Machine,
): Promise<Pick<Reserved, 'offerings' | 'requests' | 'wanted'>> {
  const shape = await readShape(environment, machine);
  const choice = await chooseOfferings(environment, nodePool, machine, shape);
  return { ...choice, requests: formatResources(shape.requests) };
}

/** What earlier rounds made: the best of it is adopted, the rest removed, so that no VM is ever forgotten. */
async function readEarlierRounds(
  { kubernetes, owner }: ActivityEnvironment,
  ref: ReplacementRef,
): Promise<{ readonly earlier: readonly LaunchName[]; readonly adopted: Adopted | undefined }> {
  const earlier = (await listNodeClaims(kubernetes, ref.nodePool)).flatMap((nodeClaim) => {
    const name = isReplacementOf(nodeClaim, owner, ref.uid) ? launchNameOf(nodeClaim) : undefined;
    // This round's own, after a reset or a lost answer, are found again by their names.
    return name === undefined || name.round === ref.round ? [] : [{ name, nodeClaim }];
  });
  const adopted = earlier.find(({ nodeClaim }) => isUsable(nodeClaim));
  return {
    earlier: earlier.filter((other) => other !== adopted).map(({ name }) => name),
    adopted: adopted === undefined ? undefined : { name: adopted.name, launch: launchOf(adopted.nodeClaim) },
  };
}

function isUsable(nodeClaim: NodeClaim): boolean {
  const isLeaving = nodeClaim.metadata.deletionTimestamp !== undefined;
  return !isLeaving && isTrue(nodeClaim, conditionTypes.initialized) && !isBornDrifted(nodeClaim);
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

function imageIdOf({ metadata, status }: NodeClass): string {
  const image = status?.images?.[0];
  if (image === undefined) throw new Error(`AKSNodeClass ${metadata.name} has no image in its status yet`);
  return image.id;
}

async function taint(
  environment: ActivityEnvironment,
  ref: ReplacementRef,
  { machine: { nodeClaim, node }, disruption: { detail } }: Pick<Candidate, 'machine' | 'disruption'>,
): Promise<void> {
  const { kubernetes, owner } = environment;
  if (node === undefined) return;
  const { name, uid } = node.metadata;
  await updateNode(kubernetes, name, (live): NodeChange | undefined => {
    if (live.metadata.uid !== uid) return undefined;
    const other = otherOwner(live, owner, ref.workflowId);
    if (other !== undefined) refuse(`Node ${name} is being disrupted by ${other}`);
    const taints = live.spec?.taints ?? [];
    return {
      annotations: { [ownerAnnotation]: owner, [workflowAnnotation]: ref.workflowId },
      taints: [...taints.filter(({ key }) => key !== disruptedTaint && key !== waitingTaint), disruptionTaint],
    };
  });
  await setNodeClaimCondition(kubernetes, nodeClaim.metadata.name, ref.uid, {
    type: conditionTypes.disruptionReason,
    status: 'True',
    reason: ref.reason,
    message: `${detail}; ${disruptionMark(ref.workflowId)}`,
  });
}
