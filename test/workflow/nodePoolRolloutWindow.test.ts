import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { until } from '../../demo/until.js';
import { pokeSignal } from '../../workflows/messages.js';
import { AdmittedPool } from '../support/admittedPool.js';
import { startRollout } from '../support/rollouts.js';
import type { TestWorker } from '../support/testWorker.js';
import { startTestWorker } from '../support/testWorker.js';
import { poolName } from '../unit/poolFixture.js';

const timeoutMs = 20_000;
/** Until the window of 0 ends. */
const closedMs = 3_000;
/** What a busy machine may need from a timer to the first activity of five children. */
const promptMs = 2_000;

let worker: TestWorker;
beforeAll(async () => {
  worker = await startTestWorker();
});
afterAll(async () => {
  await worker.stop();
});

function untilTrue(what: string, isIt: () => boolean): Promise<true> {
  return until(what, timeoutMs, () => Promise.resolve(isIt() ? (true as const) : undefined));
}

describe('a rollout whose budget is 0 until a window ends', () => {
  it('r027: sleeps on one timer, then starts at that instant what the other budget allows, and no more', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `old-${index}`);
    const opensAtMs = Date.now() + closedMs;
    const sinceNewYearMs = opensAtMs - Date.UTC(new Date(opensAtMs).getUTCFullYear(), 0, 1);
    const closed = { nodes: '0', schedule: '0 0 1 1 *', duration: `${sinceNewYearMs}ms` };
    const pool = new AdmittedPool(worker, names, [closed, { nodes: '25%' }]);
    const rollout = await startRollout(worker, poolName);
    await untilTrue('five are at work', () => pool.atWork.length === 5);

    const reserved = worker.fakesOf(poolName).callsOf('reserve');
    expect(reserved.map(({ args }) => args[0].nodeClaim).sort()).toEqual(names.slice(0, 5));
    for (const { atMs } of reserved) {
      expect(atMs).toBeGreaterThanOrEqual(opensAtMs);
      expect(atMs).toBeLessThan(opensAtMs + promptMs);
    }
    const [first, second] = pool.looks;
    expect(first?.observation.admission).toMatchObject({ start: [], waiting: { count: 20 }, nextLookMs: opensAtMs });
    expect(second?.atMs).toBeGreaterThanOrEqual(opensAtMs);
    expect(second?.observation.admission.start).toHaveLength(5);
    const { events = [] } = await rollout.fetchHistory();
    const fired = (events ?? []).findIndex((event) => event.timerFiredEventAttributes);
    const before = (events ?? []).slice(0, fired);
    expect(before.filter((event) => event.timerStartedEventAttributes)).toHaveLength(1);
    const activities = before.flatMap((event) => event.activityTaskScheduledEventAttributes?.activityType?.name ?? []);
    expect(activities).toEqual(['observePool', 'markWaiting']);

    // A second look at the opening has to find the permits taken.
    const looks = pool.looks.length;
    await rollout.signal(pokeSignal);
    await untilTrue('one more look', () => pool.looks.length > looks);
    expect(pool.looks.at(-1)?.observation.admission).toMatchObject({ start: [], waiting: { count: 15 } });

    pool.endAll();
    const { replaced } = await rollout.result();
    expect(replaced).toHaveLength(20);
    expect(new Set(replaced.map(({ nodeClaim }) => nodeClaim))).toEqual(new Set(names));
    expect(Math.max(...pool.looks.map(({ input }) => input.inFlight.length))).toBeLessThanOrEqual(5);
  });
});
