import type { KubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';
import { readNodeClaim, annotateNodeClaim } from '../../activities/kubernetes/nodeClaims.js';
import type { NodeClaim } from '../../karpenter/api.js';
import { manualReason } from '../../karpenter/disruptionReason.js';
import { nodePoolLabel, replaceAnnotation } from '../../karpenter/labels.js';
import { UserError } from '../../runtime/errors.js';
import { withKubernetes } from './kubernetesSession.js';
import { readManagedNodePool } from './managedNodePools.js';
import { printLines } from './printLines.js';
import { wrapText } from './textTable.js';

/** Options of `driftless replace` as commander reads them. */
export interface ReplaceOptions {
  readonly reason?: string;
  readonly undo: boolean;
}

/**
 * Asks for the replacement of a node, or takes that back, and prints what will happen.
 * @throws UserError when the NodeClaim does not exist or Driftless may not touch it
 */
export async function runReplace(name: string, { reason, undo }: ReplaceOptions): Promise<void> {
  // The annotation's value is the reason in words, and `false` is the one that says no.
  if (reason === 'false') throw new UserError('--reason false: it must say in words why');
  const answer = await withKubernetes(async (kubernetes) => {
    const nodeClaim = await readNodeClaim(kubernetes, name);
    if (nodeClaim === undefined) throw new UserError(`NodeClaim ${name} does not exist`);
    const nodePool = nodeClaim.metadata.labels?.[nodePoolLabel];
    if (nodePool === undefined)
      throw new UserError(`NodeClaim ${name} has no label ${nodePoolLabel}: it is of no NodePool`);
    await readManagedNodePool(kubernetes, nodePool);
    return undo ? await takeBack(kubernetes, nodeClaim) : await ask(kubernetes, nodeClaim, nodePool, reason);
  });
  printLines(...wrapText(answer));
}

async function ask(
  kubernetes: KubernetesApi,
  { metadata: { name, uid, deletionTimestamp } }: NodeClaim,
  nodePool: string,
  reason: string | undefined,
): Promise<string> {
  if (deletionTimestamp !== undefined) throw new UserError(`NodeClaim ${name} is being deleted already`);
  await annotateNodeClaim(kubernetes, name, uid, replaceAnnotation, () => reason ?? 'true');
  const because = reason === undefined ? '' : `: ${reason}`;
  return (
    `NodeClaim ${name} is to be replaced (${manualReason}${because}). It starts when the budgets of NodePool ` +
    `${nodePool} have a permit and nothing blocks it; "driftless status ${nodePool}" shows that, ` +
    `"driftless replace ${name} --undo" takes it back.`
  );
}

async function takeBack(kubernetes: KubernetesApi, { metadata }: NodeClaim): Promise<string> {
  const { name, uid, annotations } = metadata;
  if (annotations?.[replaceAnnotation] === undefined) return `NodeClaim ${name} was not asked to be replaced by hand.`;
  await annotateNodeClaim(kubernetes, name, uid, replaceAnnotation, () => null);
  return (
    `NodeClaim ${name} is not asked to be replaced by hand any more. Unless something else asks for it, ` +
    `a replacement that is under way is undone, if no pod has been evicted yet.`
  );
}
