import type { WorkflowClient } from '@temporalio/client';

import { rolloutWorkflowId } from '../workflows/ids.js';

type History = Awaited<ReturnType<ReturnType<WorkflowClient['getHandle']>['fetchHistory']>>;
export type HistoryEvent = NonNullable<History['events']>[number];

/** The latest run of one workflow. */
export interface WorkflowHistory {
  readonly workflowId: string;
  readonly events: readonly HistoryEvent[];
}

/** Reads the histories of a rollout and of all replacements of its cluster. */
export async function readRolloutHistories(
  workflows: WorkflowClient,
  cluster: string,
  nodePool: string,
): Promise<readonly WorkflowHistory[]> {
  const ids = new Set([rolloutWorkflowId(cluster, nodePool)]);
  for await (const { workflowId } of workflows.list({
    query: `Cluster = "${cluster}" AND WorkflowType = "replaceNode"`,
  })) {
    ids.add(workflowId);
  }
  const histories: WorkflowHistory[] = [];
  for (const workflowId of ids) {
    const { events } = await workflows.getHandle(workflowId).fetchHistory();
    histories.push({ workflowId, events: events ?? [] });
  }
  return histories;
}
