import type { Condition, Node } from '../karpenter/api.js';
import { conditionTypes } from '../karpenter/conditions.js';
import { disruptionMark } from '../karpenter/disruptionMark.js';
import { disruptedTaint, ownerAnnotation, workflowAnnotation } from '../karpenter/labels.js';
import { hasTaint } from '../karpenter/taints.js';
import type { ReplacementRef } from '../workflows/replacementTypes.js';
import { forgetDeadline } from './drain/deadline.js';
import type { ActivityEnvironment } from './environment.js';
import { checkCluster } from './environment.js';
import { readNodeClaim, updateNodeClaimStatus } from './kubernetes/nodeClaims.js';
import type { NodeChange } from './kubernetes/nodes.js';
import { updateNode } from './kubernetes/nodes.js';

/** Who else has tainted this node: another workflow, or somebody who left no mark. */
export function otherOwner(node: Node, owner: string, workflowId: string): string | undefined {
  if (!hasTaint(node, disruptedTaint)) return undefined;
  const annotations = node.metadata.annotations ?? {};
  const isOurs = annotations[ownerAnnotation] === owner && annotations[workflowAnnotation] === workflowId;
  return isOurs ? undefined : (annotations[workflowAnnotation] ?? 'somebody else');
}

/** What a workflow has marked. */
export interface Marked {
  readonly node: string | undefined;
  readonly nodeClaim: { readonly name: string; readonly uid: string } | undefined;
  readonly workflowId: string;
}

/** Takes back what reserve did, from a node that is still ours and still there. */
export async function release(environment: ActivityEnvironment, ref: ReplacementRef): Promise<void> {
  checkCluster(environment, ref.cluster);
  const { node, nodeClaim, uid, workflowId } = ref;
  await releaseNode(environment, { node, nodeClaim: { name: nodeClaim, uid }, workflowId });
}

/** Takes the marks of one workflow off a node and its NodeClaim; those of others, and of people, stay. */
export async function releaseNode(environment: ActivityEnvironment, marked: Marked): Promise<void> {
  const { kubernetes, owner } = environment;
  const { node, nodeClaim, workflowId } = marked;
  const live = nodeClaim === undefined ? undefined : await readNodeClaim(kubernetes, nodeClaim.name);
  // A node on its way out takes no pods any more.
  const isLeaving = live?.metadata.uid === nodeClaim?.uid && live?.metadata.deletionTimestamp !== undefined;
  if (node !== undefined && !isLeaving) {
    await updateNode(kubernetes, node, (current): NodeChange | undefined => {
      const isOurs = current.metadata.annotations?.[workflowAnnotation] === workflowId;
      const isOthers = otherOwner(current, owner, workflowId) !== undefined;
      if (!isOurs || isOthers || current.metadata.deletionTimestamp !== undefined) return undefined;
      return {
        annotations: { [ownerAnnotation]: null, [workflowAnnotation]: null },
        taints: (current.spec?.taints ?? []).filter(({ key }) => key !== disruptedTaint),
      };
    });
  }
  if (nodeClaim === undefined) return;
  await forgetDeadline(kubernetes, nodeClaim.name, nodeClaim.uid);
  await updateNodeClaimStatus(kubernetes, nodeClaim.name, nodeClaim.uid, (current) => {
    const conditions = current.status?.conditions ?? [];
    const isOurs = ({ type, message }: Condition): boolean =>
      type === conditionTypes.disruptionReason && message?.endsWith(disruptionMark(workflowId)) === true;
    const left = conditions.filter((condition) => !isOurs(condition));
    const isBeingDeleted = current.metadata.deletionTimestamp !== undefined;
    return isBeingDeleted || left.length === conditions.length ? undefined : { conditions: left };
  });
}
