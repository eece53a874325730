import type { WorkflowHandle } from '@temporalio/client';

import { until } from '../../demo/until.js';
import { pokeRollout } from '../../client/rollouts.js';
import { rolloutWorkflowId, taskQueueName } from '../../workflows/ids.js';
import { statusQuery } from '../../workflows/messages.js';
import type { RolloutStatus } from '../../workflows/messages.js';
import type { nodePoolRollout } from '../../workflows/nodePoolRollout.js';
import { searchAttributes } from '../../workflows/searchAttributes.js';
import type { TestWorker } from './testWorker.js';

export type RolloutHandle = WorkflowHandle<typeof nodePoolRollout>;

const timeoutMs = 10_000;

/** Starts a pool's rollout as the watcher does. */
export async function startRollout({ workflows, cluster }: TestWorker, nodePool: string): Promise<RolloutHandle> {
  await pokeRollout(workflows, cluster, nodePool);
  return workflows.getHandle<typeof nodePoolRollout>(rolloutWorkflowId(cluster, nodePool));
}

/** Starts a rollout that continues as new after so many events of history. */
export async function startShortRollout(
  { workflows, cluster }: TestWorker,
  nodePool: string,
  continueAsNewAfterEvents: number,
): Promise<RolloutHandle> {
  await workflows.start<typeof nodePoolRollout>('nodePoolRollout', {
    workflowId: rolloutWorkflowId(cluster, nodePool),
    taskQueue: taskQueueName(cluster),
    args: [{ cluster, nodePool, continueAsNewAfterEvents }],
    typedSearchAttributes: [{ key: searchAttributes.nodePool, value: nodePool }],
  });
  return workflows.getHandle<typeof nodePoolRollout>(rolloutWorkflowId(cluster, nodePool));
}

/** Waits until the rollout says what is asked for; answers all that it said. */
export async function untilStatus(
  rollout: RolloutHandle,
  what: string,
  isIt: (status: RolloutStatus) => boolean,
): Promise<RolloutStatus> {
  return await until(what, timeoutMs, async () => {
    const status = await rollout.query(statusQuery);
    return isIt(status) ? status : undefined;
  });
}
