import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';

import type { Pod } from '../karpenter/api.js';
import { conditionTypes, isTrue } from '../karpenter/conditions.js';
import { disruptionOf } from '../karpenter/disruptionReason.js';
import { nextDrainStep } from '../karpenter/drain.js';
import { ownerAnnotation, replacementTaint, workflowAnnotation } from '../karpenter/labels.js';
import { disruption } from '../karpenter/replacement.js';
import { failureTypes } from '../workflows/failures.js';
import type { Launch, ReplacementRef } from '../workflows/replacementTypes.js';
import type { ActivityEnvironment } from './environment.js';
import { checkCluster, refuse } from './environment.js';
import { readNodeClaim } from './kubernetes/nodeClaims.js';
import { readNodePool } from './kubernetes/nodePools.js';
import { readNode, updateNode } from './kubernetes/nodes.js';
import { evictPod, listPodsOnNode } from './kubernetes/pods.js';
import { waitDelayMs } from './waitDelay.js';
import { waitAgain } from './waiting.js';

/** @throws ApplicationFailure unless the old node is still ours and its replacement is Initialized, both read live */
export async function checkReplaceable(
  environment: ActivityEnvironment,
  ref: ReplacementRef,
  launch: Launch | null,
): Promise<void> {
  const { kubernetes, owner } = environment;
  const node = await readNode(kubernetes, ref.node);
  const annotations = node?.metadata.annotations;
  if (annotations?.[ownerAnnotation] !== owner || annotations[workflowAnnotation] !== ref.workflowId) {
    refuse(`Node ${ref.node} no longer carries the mark of this workflow`);
  }
  if (launch === null) return;
  const replacement = await readNodeClaim(kubernetes, launch.nodeClaim);
  const isLeaving = replacement?.metadata.deletionTimestamp !== undefined;
  if (replacement?.metadata.uid !== launch.uid || isLeaving || !isTrue(replacement, conditionTypes.initialized)) {
    refuse(`the replacement ${launch.nodeClaim} is not Initialized`);
  }
}

/** Opens the replacement for pods, then evicts the old node's in Karpenter's order, a step at each attempt, until they are gone. */
export async function drain(
  environment: ActivityEnvironment,
  ref: ReplacementRef,
  launch: Launch | null,
): Promise<void> {
  checkCluster(environment, ref.cluster);
  const { kubernetes } = environment;
  await checkReplaceable(environment, ref, launch);
  if (activityInfo().attempt === 1) await checkStillNeeded(environment, ref);
  if (launch !== null) await openReplacement(environment, launch.virtualMachine);
  const { evict, terminating, later } = nextDrainStep(await listPodsOnNode(kubernetes, ref.node), disruption);
  if (evict.length + terminating.length + later.length === 0) return;
  const evictions = await Promise.all(evict.map(async (pod) => ({ pod, eviction: await evictPod(kubernetes, pod) })));
  const refused = evictions.flatMap(({ pod, eviction }) =>
    eviction.kind === 'later' ? [`${nameOf(pod)}: ${eviction.why}`] : [],
  );
  const accepted = evictions.length - refused.length;
  const parts = [
    `${terminating.length + accepted} pods terminating`,
    ...(later.length === 0 ? [] : [`${later.length} to be evicted after them`]),
    ...refused,
  ];
  waitAgain(parts.join('; '), waitDelayMs(environment));
}

/** Before the first eviction there is a way back: a drift may have cleared while the VM was created. */
async function checkStillNeeded({ kubernetes, settings }: ActivityEnvironment, ref: ReplacementRef): Promise<void> {
  const [nodePool, nodeClaim] = await Promise.all([
    readNodePool(kubernetes, ref.nodePool),
    readNodeClaim(kubernetes, ref.nodeClaim),
  ]);
  const isNeeded =
    nodePool !== undefined &&
    nodeClaim?.metadata.uid === ref.uid &&
    disruptionOf(nodePool, nodeClaim, settings.candidates, Date.now()) !== undefined;
  if (!isNeeded) throw ApplicationFailure.nonRetryable(`it is no longer ${ref.reason}`, failureTypes.notNeeded);
}

function nameOf({ metadata }: Pod): string {
  return `${metadata.namespace}/${metadata.name}`;
}

/** Takes the reservation off a replacement: from now on pods may come. */
export async function openReplacement({ kubernetes }: ActivityEnvironment, node: string): Promise<void> {
  await updateNode(kubernetes, node, (live) => {
    const taints = live.spec?.taints ?? [];
    const left = taints.filter(({ key }) => key !== replacementTaint);
    return left.length === taints.length ? undefined : { taints: left };
  });
}
