import type { WorkflowClient } from '@temporalio/client';

import { rolloutWorkflowId, taskQueueName } from '../workflows/ids.js';
import { pokeSignal } from '../workflows/messages.js';
import type { nodePoolRollout } from '../workflows/nodePoolRollout.js';
import type { RolloutInput } from '../workflows/rolloutState.js';
import { searchAttributes } from '../workflows/searchAttributes.js';

/** How a pool's rollout is started, by whoever needs it first. */
function rolloutStartOptions(cluster: string, nodePool: string) {
  const args: [RolloutInput] = [{ cluster, nodePool }];
  return {
    workflowId: rolloutWorkflowId(cluster, nodePool),
    taskQueue: taskQueueName(cluster),
    args,
    typedSearchAttributes: [
      { key: searchAttributes.cluster, value: cluster },
      { key: searchAttributes.nodePool, value: nodePool },
    ],
    staticSummary: `Rollout of NodePool ${nodePool}`,
    staticDetails: `Replaces the disrupted nodes of NodePool \`${nodePool}\`, as many at once as its budget allows.`,
  };
}

/** Has a pool's rollout look at the cluster; starts it when none runs. */
export async function pokeRollout(workflows: WorkflowClient, cluster: string, nodePool: string): Promise<void> {
  await workflows.signalWithStart<typeof nodePoolRollout>('nodePoolRollout', {
    ...rolloutStartOptions(cluster, nodePool),
    signal: pokeSignal,
  });
}
