import type { HistoryEvent, WorkflowHistory } from './rolloutHistories.js';

/** What a rollout cost Temporal: history events, and actions as Temporal Cloud would bill them. */
export interface HistoryCost {
  readonly events: number;
  readonly actions: number;
}

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

/** Adds up the histories. */
export function historyCost(histories: readonly WorkflowHistory[]): HistoryCost {
  const events = histories.flatMap((history) => history.events);
  let actions = 0;
  for (const event of events) actions += actionsOf(event);
  return { events: events.length, actions };
}
