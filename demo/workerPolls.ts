import type { Connection } from '@temporalio/client';
import { setTimeout as delay } from 'node:timers/promises';

import { taskQueueName } from '../workflows/ids.js';

const lookEveryMs = 250;

/** Waits until a worker of the cluster asks Temporal for workflows. */
export async function untilWorkerPolls(
  connection: Connection,
  namespace: string,
  cluster: string,
  signal: AbortSignal,
): Promise<void> {
  const taskQueue = { name: taskQueueName(cluster) };
  for (;;) {
    const { pollers } = await connection.workflowService.describeTaskQueue({ namespace, taskQueue });
    if (pollers.length > 0) return;
    await delay(lookEveryMs, undefined, { signal });
  }
}
