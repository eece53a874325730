import { proxyActivities, proxyLocalActivities, workflowInfo } from '@temporalio/workflow';

import type { ReplacementActivities } from '../../workflows/activityInterfaces.js';
import type { ReplacementResult, ReplaceNodeInput } from '../../workflows/replacementTypes.js';

/** A bundle of its own: the real rollout, and in place of a replacement one that is nothing but its last step. */
export { nodePoolRollout } from '../../workflows/nodePoolRollout.js';

const startToCloseTimeout = '10 minutes';
const held = proxyActivities<ReplacementActivities>({ startToCloseTimeout });
/** Costs the server next to nothing. */
const quick = proxyLocalActivities<ReplacementActivities>({ startToCloseTimeout });

/** Ends when the activity says so, and as it says; at once, unless its NodeClaim is called `held`. `broken` has a fault in its code. */
export async function replaceNode(input: ReplaceNodeInput): Promise<ReplacementResult> {
  const { nodeClaim, uid, round, reason, reasonDetail } = input;
  if (nodeClaim.startsWith('broken')) throw new TypeError('a fault in the code');
  const ref = { ...input, workflowId: workflowInfo().workflowId };
  const { followDeletion } = round === 0 && nodeClaim.startsWith('held') ? held : quick;
  await followDeletion(ref, { nodeClaim, uid, virtualMachine: nodeClaim, resumeToken: null });
  const replacement = `new-${nodeClaim}`;
  return { kind: 'replaced', nodeClaim, replacement, reason, reasonDetail, offering: null, launchFailures: [] };
}
