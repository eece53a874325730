import type { WorkflowClient } from '@temporalio/client';

import { rolloutWorkflowId } from '../workflows/ids.js';

/** What a rollout cost Temporal: history events, and actions as Temporal Cloud would bill them. */
export interface HistoryCost {
  readonly events: number;
  readonly actions: number;
}

type HistoryEvent = NonNullable<
  Awaited<ReturnType<ReturnType<WorkflowClient['getHandle']>['fetchHistory']>>['events']
>[number];

/** Start, signal, update, timer, upsert and each attempt of an activity are an action; starting a child is two. */
function actionsOf(event: HistoryEvent): number {
  if (event.startChildWorkflowExecutionInitiatedEventAttributes) return 2;
  if (event.activityTaskStartedEventAttributes) return event.activityTaskStartedEventAttributes.attempt ?? 1;
  const isAction =
    event.workflowExecutionStartedEventAttributes ??
    event.workflowExecutionSignaledEventAttributes ??
    event.workflowExecutionUpdateAcceptedEventAttributes ??
    event.timerStartedEventAttributes ??
    event.upsertWorkflowSearchAttributesEventAttributes ??
    event.signalExternalWorkflowExecutionInitiatedEventAttributes;
  return isAction ? 1 : 0;
}

async function costOf(workflows: WorkflowClient, workflowId: string): Promise<HistoryCost> {
  const { events } = await workflows.getHandle(workflowId).fetchHistory();
  let actions = 0;
  for (const event of events ?? []) actions += actionsOf(event);
  return { events: events?.length ?? 0, actions };
}

/** Adds up the histories of a rollout and of all replacements of its cluster. */
export async function measureHistoryCost(
  workflows: WorkflowClient,
  cluster: string,
  nodePool: string,
): Promise<HistoryCost> {
  const ids = new Set([rolloutWorkflowId(cluster, nodePool)]);
  for await (const { workflowId } of workflows.list({
    query: `Cluster = "${cluster}" AND WorkflowType = "replaceNode"`,
  })) {
    ids.add(workflowId);
  }
  let total: HistoryCost = { events: 0, actions: 0 };
  for (const id of ids) {
    const cost = await costOf(workflows, id);
    total = { events: total.events + cost.events, actions: total.actions + cost.actions };
  }
  return total;
}
