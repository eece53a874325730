import type { WorkflowClient } from '@temporalio/client';
import { randomUUID } from 'node:crypto';

/** WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR in Temporal's API. */
const nonDeterministic = 24;
/** The newest workflow task is among so many of the newest events, else it is not stuck for good. */
const newestEvents = 100;
/** The first workflow task ends among so many of the oldest. */
const oldestEvents = 50;
const reason = "its history does not replay: Temporal's worker cannot go on with it";

/** A rollout that was begun anew. */
export interface ResetRollout {
  readonly workflowId: string;
  readonly why: string;
}

/**
 * Resets the rollouts of a cluster whose history does not replay to their first workflow task: they would not go on before a person
 * does it. Permits, candidates and running replacements are read from the cluster and from Temporal anyway, and what people asked of
 * the run is applied again; its failures are forgotten, with a backoff or a halt that came of them. A query that reaches a worker
 * while the rollout's own one is lost leaves such a history.
 */
export async function resetStuckRollouts(workflows: WorkflowClient, cluster: string): Promise<readonly ResetRollout[]> {
  const reset: ResetRollout[] = [];
  const query = `Cluster = "${cluster}" AND WorkflowType = "nodePoolRollout" AND ExecutionStatus = "Running"`;
  for await (const { workflowId, runId } of workflows.list({ query })) {
    if (!(await isStuck(workflows, workflowId, runId))) continue;
    if (await resetToBeginning(workflows, workflowId, runId)) reset.push({ workflowId, why: reason });
  }
  return reset;
}

/** Its latest workflow task has failed, and no worker can do better. */
async function isStuck(workflows: WorkflowClient, workflowId: string, runId: string): Promise<boolean> {
  const { history } = await workflows.workflowService.getWorkflowExecutionHistoryReverse({
    namespace: workflows.options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: newestEvents,
  });
  const latest = history?.events?.find(
    (event) => event.workflowTaskFailedEventAttributes ?? event.workflowTaskCompletedEventAttributes,
  );
  return Number(latest?.workflowTaskFailedEventAttributes?.cause) === nonDeterministic;
}

async function resetToBeginning(workflows: WorkflowClient, workflowId: string, runId: string): Promise<boolean> {
  const { namespace } = workflows.options;
  const { history } = await workflows.workflowService.getWorkflowExecutionHistory({
    namespace,
    execution: { workflowId, runId },
    maximumPageSize: oldestEvents,
  });
  const first = history?.events?.find((event) => event.workflowTaskCompletedEventAttributes);
  if (!first?.eventId) return false;
  await workflows.workflowService.resetWorkflowExecution({
    namespace,
    workflowExecution: { workflowId, runId },
    reason,
    requestId: randomUUID(),
    workflowTaskFinishEventId: first.eventId,
  });
  return true;
}
