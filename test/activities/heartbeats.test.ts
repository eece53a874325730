import { describe, expect, it } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { setTimeout as delay } from 'node:timers/promises';

import { heartbeats } from '../../worker/heartbeats.js';

/** What an activity with this timeout, which goes on for so long, tells Temporal on its way. */
async function heartbeatsOf(heartbeatTimeoutMs: number | undefined, activityMs: number): Promise<unknown[]> {
  const environment = new MockActivityEnvironment(
    { heartbeatTimeoutMs, heartbeatDetails: 'saved before' },
    { interceptors: [heartbeats], logger: new DefaultLogger('ERROR') },
  );
  const seen: unknown[] = [];
  environment.on('heartbeat', (details: unknown) => seen.push(details));
  await environment.run(() => delay(activityMs));
  return seen;
}

describe('an attempt that goes on', () => {
  it('says so within its heartbeat timeout, with what the attempt before it had saved', async () => {
    const seen = await heartbeatsOf(60, 200);
    expect(seen.length).toBeGreaterThan(1);
    expect(new Set(seen)).toEqual(new Set(['saved before']));
  });

  it.each([0, undefined])(
    'says nothing when it has no such timeout: %p, as the server or nobody says',
    async (none) => {
      expect(await heartbeatsOf(none, 100)).toEqual([]);
    },
  );
});
