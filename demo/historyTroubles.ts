import { failureTypes } from '../workflows/failures.js';
import type { HistoryEvent, WorkflowHistory } from './rolloutHistories.js';

/** What histories tell of that should not happen while nothing is wrong; a text each. */
export interface HistoryTroubles {
  readonly failedActivities: readonly string[];
  /** Attempts whose failure was followed by another attempt, but for those that only waited. */
  readonly failedAttempts: readonly string[];
  /** A worker took a workflow's task, or was thought to be there for it, and did not answer: seconds that are lost. */
  readonly lostWorkflowTasks: readonly string[];
}

interface Failure {
  readonly message?: string | null;
  readonly applicationFailureInfo?: { readonly type?: string | null } | null;
}

function textOf(failure: Failure | null | undefined): string {
  return `${failure?.applicationFailureInfo?.type ?? 'Failure'}: ${failure?.message ?? ''}`;
}

/** By the id of the event that scheduled each. */
function activityNames(events: readonly HistoryEvent[]): ReadonlyMap<string, string> {
  const names = events.map((event): readonly [string, string] => [
    String(event.eventId),
    event.activityTaskScheduledEventAttributes?.activityType?.name ?? '',
  ]);
  return new Map(names);
}

/** Finds what went wrong in histories. Of the attempts of an activity Temporal keeps the last failure only. */
export function historyTroubles(histories: readonly WorkflowHistory[]): HistoryTroubles {
  const failedActivities: string[] = [];
  const failedAttempts: string[] = [];
  const lostWorkflowTasks: string[] = [];
  for (const { workflowId, events } of histories) {
    const names = activityNames(events);
    const nameOf = (scheduledEventId: unknown): string => `${workflowId} ${names.get(String(scheduledEventId)) ?? ''}`;
    for (const event of events) {
      const { activityTaskFailedEventAttributes: failed, activityTaskTimedOutEventAttributes: timedOut } = event;
      if (failed) failedActivities.push(`${nameOf(failed.scheduledEventId)}: ${textOf(failed.failure)}`);
      if (timedOut) failedActivities.push(`${nameOf(timedOut.scheduledEventId)}: ${textOf(timedOut.failure)}`);
      const started = event.activityTaskStartedEventAttributes;
      if (started?.lastFailure && started.lastFailure.applicationFailureInfo?.type !== failureTypes.waiting)
        failedAttempts.push(`${nameOf(started.scheduledEventId)}: ${textOf(started.lastFailure)}`);
      const lost = event.workflowTaskTimedOutEventAttributes;
      if (lost) lostWorkflowTasks.push(`${workflowId} at event ${String(event.eventId)}`);
    }
  }
  return { failedActivities, failedAttempts, lostWorkflowTasks };
}
