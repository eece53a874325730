import type { Connection } from '@temporalio/client';
import { ScheduleAlreadyRunning, ScheduleClient, ScheduleOverlapPolicy } from '@temporalio/client';

import { sweepScheduleId, taskQueueName } from '../workflows/ids.js';
import type { sweepOrphans } from '../workflows/sweepOrphans.js';

/** A sweep that is late by more than this is left out: the next one finds the same. */
const catchupWindow = '1 minute';

/** Has Temporal sweep the cluster again and again; an existing schedule gets this interval. */
export async function ensureSweepSchedule(
  connection: Connection,
  namespace: string,
  cluster: string,
  intervalMs: number,
): Promise<void> {
  const client = new ScheduleClient({ connection, namespace });
  const scheduleId = sweepScheduleId(cluster);
  const spec = { intervals: [{ every: intervalMs }] };
  try {
    await client.create<typeof sweepOrphans>({
      scheduleId,
      spec,
      action: {
        type: 'startWorkflow',
        workflowType: 'sweepOrphans',
        workflowId: scheduleId,
        taskQueue: taskQueueName(cluster),
        args: [{ cluster }],
        staticSummary: 'Look for what replacements have left behind',
      },
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow },
    });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await client.getHandle(scheduleId).update((schedule) => ({ ...schedule, spec }));
  }
}
