import { ApplicationFailure } from '@temporalio/common';

import type { Node, NodeClaim, Pod } from '../karpenter/api.js';
import { conditionTypes, getCondition, isTrue } from '../karpenter/conditions.js';
import { disruptionOf, isBornDrifted } from '../karpenter/disruptionReason.js';
import type { DrainStep } from '../karpenter/drain.js';
import { isDrained, nextDrainStep } from '../karpenter/drain.js';
import { ownerAnnotation, replacementTaint, workflowAnnotation } from '../karpenter/labels.js';
import { isReschedulable, podName } from '../karpenter/pods.js';
import { isManaged } from '../karpenter/pool.js';
import { disruption } from '../karpenter/replacement.js';
import type { DrainFailureDetails } from '../workflows/failures.js';
import { failureTypes } from '../workflows/failures.js';
import type { Launch, ReplacementRef } from '../workflows/replacementTypes.js';
import { ArmError } from './azure/armError.js';
import { fixDeadlineMs, forgetDeadline } from './drain/deadline.js';
import { describeDrain } from './drain/describe.js';
import { waitForDetachment } from './drain/detachment.js';
import { tellLeft, tellMachineLost, tellNews } from './drain/events.js';
import { requestEvictions } from './drain/evictions.js';
import { DrainJournal } from './drain/journal.js';
import type { ActivityEnvironment } from './environment.js';
import { checkCluster, refuse } from './environment.js';
import { unlessPaused } from './killSwitch.js';
import { readNodeClaim } from './kubernetes/nodeClaims.js';
import { readNodePool } from './kubernetes/nodePools.js';
import { readNode, updateNode } from './kubernetes/nodes.js';
import { listPodsOnNode } from './kubernetes/pods.js';
import { waitDelayMs } from './waitDelay.js';
import { waitAgain, waitedMs } from './waiting.js';

/** Karpenter's MinDrainTime is 5 s, its interval 1 s. */
const minDrainIntervals = 5;

/**
 * @param launch null: the node was empty and has no replacement
 * @returns the old node
 * @throws ApplicationFailure unless the old node is still ours and its replacement is Initialized, both read live
 */
export async function checkReplaceable(
  { kubernetes, owner }: ActivityEnvironment,
  ref: ReplacementRef,
  launch: Launch | null,
): Promise<Node> {
  const [node, replacement] = await Promise.all([
    readNode(kubernetes, ref.node),
    launch === null ? undefined : readNodeClaim(kubernetes, launch.nodeClaim),
  ]);
  const annotations = node?.metadata.annotations ?? {};
  const isOurs = annotations[ownerAnnotation] === owner && annotations[workflowAnnotation] === ref.workflowId;
  if (node === undefined || !isOurs) {
    refuse(`Node ${ref.node} no longer carries the mark of this workflow`);
  }
  if (launch === null) return node;
  const isLeaving = replacement?.metadata.deletionTimestamp !== undefined;
  if (replacement?.metadata.uid !== launch.uid || isLeaving || !isTrue(replacement, conditionTypes.initialized)) {
    refuse(`the replacement ${launch.nodeClaim} is not Initialized`);
  }
  return node;
}

/**
 * Opens the replacement for pods, then evicts the old node's in Karpenter's order, a step at each attempt, until they are gone and
 * their disks are detached. Every failure carries DrainFailureDetails.
 * @param launch null: the node was empty and has no replacement
 * @param paused how the drain before it has ended, when the kill switch has stopped it
 */
export async function drain(
  environment: ActivityEnvironment,
  ref: ReplacementRef,
  launch: Launch | null,
  paused: DrainFailureDetails | null,
): Promise<void> {
  const journal = DrainJournal.open(paused);
  try {
    await unlessPaused(environment.killSwitch, () => drainOnce(environment, ref, launch, journal));
  } catch (error) {
    journal.fail(error);
  }
}

async function drainOnce(
  environment: ActivityEnvironment,
  ref: ReplacementRef,
  launch: Launch | null,
  journal: DrainJournal,
): Promise<void> {
  checkCluster(environment, ref.cluster);
  const { kubernetes } = environment;
  const node = await checkReplaceable(environment, ref, launch);
  // A pause is held against no deadline: it is fixed anew.
  if (journal.isResumed) await forgetDeadline(kubernetes, ref.nodeClaim, ref.uid);
  const nodeClaim = await readOldNodeClaim(environment, ref);
  if (!journal.evictionBegan) {
    await checkStillNeeded(environment, nodeClaim, ref);
    if (launch !== null) await checkNotBornDrifted(environment, launch);
  }
  const deadlineMs = nodeClaim === undefined ? undefined : await fixDeadlineMs(kubernetes, nodeClaim);
  const pods = await listPodsOnNode(kubernetes, ref.node);
  if (launch === null) checkStillEmpty(pods);
  if (await hasLostMachine(environment, node, nodeClaim)) {
    if (launch !== null) await openReplacement(environment, launch.virtualMachine);
    await tellMachineLost(environment, ref, pods);
    return;
  }
  const clock = { nowMs: Date.now(), deadlineMs };
  const step = nextDrainStep(pods, disruption, clock);
  journal.keepObstaclesOf([...step.evict, ...step.protected]);
  if (launch !== null && !isHeldUp(step)) await openReplacement(environment, launch.virtualMachine);
  const accepted = await requestEvictions(environment, step, journal, clock.nowMs);
  await tellNews(environment, ref, journal);
  if (!isDrained(step)) {
    const nodeIsReady = isTrue(node, 'Ready');
    waitAgain(describeDrain(step, journal, clock, { accepted, nodeIsReady }), waitDelayMs(environment));
  }
  if (launch === null) waitForScheduler(environment);
  const attachments = await waitForDetachment(environment, ref, pods, journal, clock);
  await tellLeft(environment, ref, step.stuck, attachments);
}

/** Pods on a machine that is no more will never end by themselves. ARM is asked once the Node says that something is wrong. */
async function hasLostMachine(
  { virtualMachines }: ActivityEnvironment,
  node: Node,
  nodeClaim: NodeClaim | undefined,
): Promise<boolean> {
  const name = virtualMachines.nameOf(nodeClaim?.status?.providerID ?? '');
  if (name === undefined || isTrue(node, conditionTypes.ready)) return false;
  try {
    return (await virtualMachines.get(name)) === undefined;
  } catch (error) {
    // While ARM does not say so the drain goes on as it can.
    if (error instanceof ArmError) return false;
    throw error;
  }
}

async function readOldNodeClaim(
  { kubernetes }: ActivityEnvironment,
  ref: ReplacementRef,
): Promise<NodeClaim | undefined> {
  const nodeClaim = await readNodeClaim(kubernetes, ref.nodeClaim);
  return nodeClaim?.metadata.uid === ref.uid ? nodeClaim : undefined;
}

/** Pods that move to a replacement that has drifted already would have to move again, and the next replacement would be the same. */
async function checkNotBornDrifted({ kubernetes }: ActivityEnvironment, launch: Launch): Promise<void> {
  const replacement = await readNodeClaim(kubernetes, launch.nodeClaim);
  if (replacement === undefined || !isBornDrifted(replacement)) return;
  const detail = getCondition(replacement, conditionTypes.drifted)?.reason ?? 'without a reason';
  throw ApplicationFailure.nonRetryable(
    `the replacement ${launch.nodeClaim} is Drifted already (${detail})`,
    failureTypes.bornDrifted,
  );
}

/** Before the first eviction there is a way back: a drift may have cleared while the VM was created. */
async function checkStillNeeded(
  { kubernetes, settings }: ActivityEnvironment,
  nodeClaim: NodeClaim | undefined,
  { nodePool: name, reason }: ReplacementRef,
): Promise<void> {
  const nodePool = await readNodePool(kubernetes, name);
  // Nor may the old NodeClaim be deleted then.
  if (nodePool !== undefined && !isManaged(nodePool)) notNeeded(`NodePool ${name} is not managed any more`);
  const isNeeded =
    nodePool !== undefined &&
    nodeClaim !== undefined &&
    disruptionOf(nodePool, nodeClaim, settings.candidates, Date.now()) !== undefined;
  if (!isNeeded) notNeeded(`it is no longer ${reason}`);
}

/** A node without a replacement may lose its daemon pods only. */
function checkStillEmpty(pods: readonly Pod[]): void {
  const pod = pods.find(isReschedulable);
  if (pod !== undefined) notNeeded(`it is not empty any more: pod ${podName(pod)} has come`);
}

/** An empty node was tainted a moment ago: a scheduler that has not seen it may still place a pod. */
function waitForScheduler(environment: ActivityEnvironment): void {
  const { waitIntervalMs } = environment.settings.replacement;
  if (waitedMs() < minDrainIntervals * waitIntervalMs) waitAgain('no pods; one may still come', waitIntervalMs);
}

function notNeeded(why: string): never {
  throw ApplicationFailure.nonRetryable(why, failureTypes.notNeeded);
}

/** Nothing will move for now: the replacement stays reserved, so that it can be taken away as it is. */
function isHeldUp({ evict, forceDelete, terminating, protected: held }: DrainStep): boolean {
  return held.length > 0 && [evict, forceDelete, terminating].every((pods) => pods.length === 0);
}

/** Takes the reservation off a replacement: from now on pods may come. */
export async function openReplacement({ kubernetes }: ActivityEnvironment, node: string): Promise<void> {
  await updateNode(kubernetes, node, (live) => {
    const taints = live.spec?.taints ?? [];
    const left = taints.filter(({ key }) => key !== replacementTaint);
    return left.length === taints.length ? undefined : { taints: left };
  });
}
