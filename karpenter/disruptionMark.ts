import type { NodeClaim } from './api.js';
import { conditionTypes, getCondition } from './conditions.js';

const markedMessage = /(?:^|; )replaced by (\S+)$/;

/** The end of our DisruptionReason's message, which tells it from anybody else's. */
export function disruptionMark(workflowId: string): string {
  return `replaced by ${workflowId}`;
}

/** The workflow that has set the DisruptionReason of this NodeClaim, if one of ours has; it may have been ended by hand since. */
export function disruptingWorkflow(nodeClaim: NodeClaim): string | undefined {
  const condition = getCondition(nodeClaim, conditionTypes.disruptionReason);
  return condition?.status === 'True' ? markedMessage.exec(condition.message ?? '')?.[1] : undefined;
}
