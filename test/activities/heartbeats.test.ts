import { describe, expect, it } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { setTimeout as delay } from 'node:timers/promises';

import { heartbeats } from '../../worker/heartbeats.js';
import { eventually } from '../support/eventually.js';

/** What an activity with this timeout tells Temporal. It is told what was seen of that so far. */
async function heartbeatsOf(
  heartbeatTimeoutMs: number | undefined,
  activity: (seen: readonly unknown[]) => Promise<unknown>,
): Promise<unknown[]> {
  const environment = new MockActivityEnvironment(
    { heartbeatTimeoutMs, heartbeatDetails: 'saved before' },
    { interceptors: [heartbeats], logger: new DefaultLogger('ERROR') },
  );
  const seen: unknown[] = [];
  environment.on('heartbeat', (details: unknown) => seen.push(details));
  await environment.run(() => activity(seen));
  return seen;
}

describe('an attempt that goes on', () => {
  it('says so within its heartbeat timeout, with what the attempt before it had saved', async () => {
    const seen = await heartbeatsOf(60, (heard) =>
      eventually(() => {
        expect(heard.length).toBeGreaterThan(1);
      }),
    );
    expect(new Set(seen)).toEqual(new Set(['saved before']));
  });

  it.each([0, undefined])(
    'says nothing when it has no such timeout: %p, as the server or nobody says',
    async (none) => {
      expect(await heartbeatsOf(none, () => delay(100))).toEqual([]);
    },
  );
});
