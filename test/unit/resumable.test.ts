import { describe, expect, it } from '@jest/globals';
import { ActivityFailure, ApplicationFailure, RetryState } from '@temporalio/common';

import { failureTypes } from '../../workflows/failures.js';
import { resumable } from '../../workflows/resumable.js';

function activityFailure(type: string, message: string): ActivityFailure {
  const cause = ApplicationFailure.nonRetryable(message, type);
  return new ActivityFailure('Activity task failed', 'drain', '1', RetryState.NON_RETRYABLE_FAILURE, 'w', cause);
}

describe('an activity that the kill switch stops', () => {
  it('waits for the switch, is told why, and begins anew until it runs', async () => {
    const whys: string[] = [];
    let attempts = 0;
    const activities = resumable(
      {
        drain: (node: string): Promise<string> => {
          attempts += 1;
          return attempts < 3
            ? Promise.reject(activityFailure(failureTypes.paused, 'paused by hand'))
            : Promise.resolve(`${node} drained`);
        },
      },
      (why) => {
        whys.push(why);
        return Promise.resolve();
      },
    );
    expect(await activities.drain('a')).toBe('a drained');
    expect(whys).toEqual(['paused by hand', 'paused by hand']);
  });

  it('fails with any other failure, and with what ends the wait', async () => {
    const fails = (type: string, ended: () => Promise<void>): Promise<void> =>
      resumable({ drain: (): Promise<void> => Promise.reject(activityFailure(type, 'x')) }, ended).drain();
    await expect(fails('Refused', () => Promise.resolve())).rejects.toBeInstanceOf(ActivityFailure);
    await expect(fails(failureTypes.paused, () => Promise.reject(new Error('canceled')))).rejects.toThrow('canceled');
  });
});
