import { describe, expect, it } from '@jest/globals';
import proto from '@temporalio/proto';

import { historyTroubles } from '../../demo/historyTroubles.js';

function failureOf(type: string, message: string): { message: string; applicationFailureInfo: { type: string } } {
  return { message, applicationFailureInfo: { type } };
}

const scheduled = { eventId: 5, activityTaskScheduledEventAttributes: { activityType: { name: 'drain' } } };

function started(type: string): object {
  const attributes = { scheduledEventId: 5, attempt: 2, lastFailure: failureOf(type, 'the word of attempt 1') };
  return { eventId: 6, activityTaskStartedEventAttributes: attributes };
}

function troublesOf(...events: readonly object[]): ReturnType<typeof historyTroubles> {
  const history = proto.temporal.api.history.v1.History.fromObject({ events });
  return historyTroubles([{ workflowId: 'replace/c/a', events: history.events }]);
}

const none = { failedActivities: [], failedAttempts: [], lostWorkflowTasks: [] };

describe('the troubles of a history', () => {
  it('are none where attempts only waited', () => {
    expect(troublesOf(scheduled, started('Waiting'))).toEqual(none);
  });

  it('are activities that failed or timed out', () => {
    const failed = { activityTaskFailedEventAttributes: { scheduledEventId: 5, failure: failureOf('Refused', 'no') } };
    const timedOut = { activityTaskTimedOutEventAttributes: { scheduledEventId: 5, failure: { message: 'late' } } };
    expect(troublesOf(scheduled, failed, timedOut)).toEqual({
      ...none,
      failedActivities: ['replace/c/a drain: Refused: no', 'replace/c/a drain: Failure: late'],
    });
  });

  it('are attempts that failed before another one', () => {
    expect(troublesOf(scheduled, started('Error'))).toEqual({
      ...none,
      failedAttempts: ['replace/c/a drain: Error: the word of attempt 1'],
    });
  });

  it("are a workflow's tasks that no worker answered", () => {
    const lost = { eventId: 9, workflowTaskTimedOutEventAttributes: { timeoutType: 2 } };
    expect(troublesOf(lost)).toEqual({ ...none, lostWorkflowTasks: ['replace/c/a at event 9'] });
  });
});
