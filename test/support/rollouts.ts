import type { WorkflowHandle } from '@temporalio/client';
import { WorkflowUpdateFailedError } from '@temporalio/client';
import type { UpdateDefinition } from '@temporalio/common';
import { ApplicationFailure } from '@temporalio/common';

import { until } from '../../demo/until.js';
import { pokeRollout, updateRollout } from '../../client/rollouts.js';
import { rolloutWorkflowId, taskQueueName } from '../../workflows/ids.js';
import { pokeSignal, statusQuery } from '../../workflows/messages.js';
import type { RolloutStatus } from '../../workflows/messages.js';
import type { nodePoolRollout } from '../../workflows/nodePoolRollout.js';
import { searchAttributes } from '../../workflows/searchAttributes.js';
import type { Look, ScriptedPool } from './scriptedPool.js';
import type { TestWorker } from './testWorker.js';

export type RolloutHandle = WorkflowHandle<typeof nodePoolRollout>;

const timeoutMs = 30_000;

/** Starts a pool's rollout as the watcher does. */
export async function startRollout(worker: TestWorker, nodePool: string): Promise<RolloutHandle> {
  await pokeRollout(worker.workflows, worker.cluster, nodePool);
  return rolloutOf(worker, nodePool);
}

/** The rollout of a pool, whether it runs or not. */
export function rolloutOf({ workflows, cluster }: TestWorker, nodePool: string): RolloutHandle {
  return workflows.getHandle<typeof nodePoolRollout>(rolloutWorkflowId(cluster, nodePool));
}

/** Sends an update as the command line does: starts a rollout where none runs. */
export async function steer<Answer, Request>(
  { workflows, cluster }: TestWorker,
  nodePool: string,
  update: UpdateDefinition<Answer, [Request]>,
  request: Request,
): Promise<Answer> {
  return await updateRollout(workflows, cluster, nodePool, update, request);
}

/** The failure of an update that was refused. */
export async function refusalOf(update: Promise<unknown>): Promise<ApplicationFailure> {
  try {
    await update;
  } catch (error) {
    if (error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure) return error.cause;
    throw error;
  }
  throw new Error('the update was not refused');
}

/** Pokes the rollout and waits for the look that follows. */
export async function lookAgain(rollout: RolloutHandle, pool: ScriptedPool): Promise<Look> {
  const looks = pool.looks.length;
  await rollout.signal(pokeSignal);
  return await pool.observed(looks + 1);
}

/** Starts a rollout that continues as new after so many events of history. */
export async function startShortRollout(
  worker: TestWorker,
  nodePool: string,
  continueAsNewAfterEvents: number,
): Promise<RolloutHandle> {
  const { workflows, cluster } = worker;
  await workflows.start<typeof nodePoolRollout>('nodePoolRollout', {
    workflowId: rolloutWorkflowId(cluster, nodePool),
    taskQueue: taskQueueName(cluster),
    args: [{ cluster, nodePool, continueAsNewAfterEvents }],
    typedSearchAttributes: [{ key: searchAttributes.nodePool, value: nodePool }],
  });
  return rolloutOf(worker, nodePool);
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
