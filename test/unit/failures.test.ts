import { describe, expect, it } from '@jest/globals';
import { ActivityFailure, ApplicationFailure, CancelledFailure, TimeoutFailure } from '@temporalio/common';

import { mayHaveEvicted, readLaunchFailure, summarizeFailure } from '../../workflows/failures.js';

const launchFailed = {
  nodeClaim: 'general-purpose-x',
  code: 'AllocationFailed',
  message: 'no room in westus2-1',
  anotherOffering: true,
};

function activityFailure(activityType: string, cause: Error): ActivityFailure {
  return new ActivityFailure('Activity task failed', activityType, '1', 'NON_RETRYABLE_FAILURE', 'worker', cause);
}

function applicationFailure(type: string, message: string, ...details: unknown[]): ApplicationFailure {
  return ApplicationFailure.create({ type, message, details });
}

describe('a failed launch', () => {
  it('is read from the details of the activity that marked it', () => {
    const error = activityFailure('pollLaunch', applicationFailure('LaunchFailed', 'x', launchFailed));
    expect(readLaunchFailure(error)).toEqual(launchFailed);
    expect(summarizeFailure(error)).toMatchObject({ code: 'AllocationFailed', message: 'no room in westus2-1' });
  });

  it.each<[string, unknown]>([
    ['an activity that failed otherwise', activityFailure('drain', applicationFailure('Refused', 'x', launchFailed))],
    ['details that say nothing', activityFailure('pollLaunch', applicationFailure('LaunchFailed', 'x', { code: 'X' }))],
    ['no details', activityFailure('pollLaunch', applicationFailure('LaunchFailed', 'x'))],
    ['details that are null', activityFailure('pollLaunch', applicationFailure('LaunchFailed', 'x', null))],
    ['a failure outside an activity', applicationFailure('LaunchFailed', 'x', launchFailed)],
    ['what is no error', 'LaunchFailed'],
  ])('is not read from %s', (_, error) => {
    expect(readLaunchFailure(error)).toBeUndefined();
  });
});

describe('the summary of a failure', () => {
  it.each<[string, unknown, { code: string; message: string }]>([
    [
      'names the type and the activity',
      activityFailure('reserve', applicationFailure('Refused', 'somebody else has tainted it')),
      { code: 'Refused', message: 'reserve: somebody else has tainted it' },
    ],
    [
      'says Error where there is no type',
      activityFailure('reserve', ApplicationFailure.create({ message: 'odd' })),
      { code: 'Error', message: 'reserve: odd' },
    ],
    [
      'calls an activity that ran out of time a passed deadline',
      activityFailure('drain', new TimeoutFailure('timed out', undefined, 'SCHEDULE_TO_CLOSE')),
      { code: 'DeadlineExceeded', message: 'drain did not end in time' },
    ],
    [
      'calls a wait with no time for a further attempt a passed deadline, with what it waited for',
      activityFailure('drain', applicationFailure('Waiting', '2 pods are left')),
      { code: 'DeadlineExceeded', message: 'drain: gave up: 2 pods are left' },
    ],
    [
      'falls back on the activity’s own message',
      activityFailure('drain', new Error('lost')),
      { code: 'Error', message: 'Activity task failed' },
    ],
    [
      'is the workflow’s own, with its type',
      applicationFailure('NoOffering', 'no offering fits this node'),
      { code: 'NoOffering', message: 'no offering fits this node' },
    ],
    ['is the message of any other error', new Error('no offering'), { code: 'Error', message: 'no offering' }],
    ['is the text of what is no error', 'plain', { code: 'Error', message: 'plain' }],
  ])('%s', (_, error, expected) => {
    expect(summarizeFailure(error)).toEqual(expected);
  });
});

describe('a drain that failed', () => {
  const waiting = (...details: unknown[]): ActivityFailure =>
    activityFailure('drain', applicationFailure('Waiting', 'x', ...details));

  it.each<[string, unknown, boolean]>([
    ['says that it has evicted nothing', waiting({ evictionBegan: false }), false],
    ['was not needed', activityFailure('drain', applicationFailure('NotNeeded', 'x')), false],
    ['says that it has evicted', waiting({ evictionBegan: true }), true],
    ['says nothing of it', waiting(), true],
    ['says what cannot be read', waiting('x'), true],
    ['timed out in an attempt', activityFailure('drain', new TimeoutFailure('x', null, 'SCHEDULE_TO_CLOSE')), true],
    ['was canceled', activityFailure('drain', new CancelledFailure('canceled')), true],
    ['is no failure of an activity', new Error('x'), true],
  ])('and %s', (_, error, expected) => {
    expect(mayHaveEvicted(error)).toBe(expected);
  });
});
