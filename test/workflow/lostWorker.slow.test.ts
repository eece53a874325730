import type { Context } from '@temporalio/activity';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';

import { until } from '../../demo/until.js';
import { heartbeats } from '../../worker/heartbeats.js';
import { startRollout } from '../support/rollouts.js';
import { ScriptedPool } from '../support/scriptedPool.js';
import type { TestWorker } from '../support/testWorker.js';
import { startTestWorker } from '../support/testWorker.js';

jest.setTimeout(60_000);

/** Between the heartbeat timeout and the minute and more that an attempt may take. */
const soonMs = 30_000;
const slowMs = 20_000;

/** NodePools whose activities give no sign of life, as if their worker had been killed. */
const lost = ['observed-by-lost-worker', 'marked-by-lost-worker'] as const;

let worker: TestWorker;
beforeAll(async () => {
  const isLost = ({ info }: Context): boolean =>
    lost.some((nodePool) => info.workflowExecution?.workflowId.endsWith(nodePool));
  worker = await startTestWorker({
    interceptors: { activity: [(context) => (isLost(context) ? {} : heartbeats(context))] },
  });
});
afterAll(async () => {
  await worker.stop();
});

describe('an attempt whose worker is lost', () => {
  it('is made again soon, where the pool was to be read', async () => {
    const [nodePool] = lost;
    const fakes = worker.fakesOf(nodePool);
    poolWithOneMark(nodePool);
    const { does } = fakes;
    const observe = does.observePool.bind(does);
    does.observePool = (input) => (fakes.callsOf('observePool').length === 1 ? neverEnds() : observe(input));
    const rollout = await startRollout(worker, nodePool);
    await until('a second attempt', soonMs, () => Promise.resolve(fakes.callsOf('observePool')[1]));
    expect(await rollout.result()).toMatchObject({ failures: [] });
  });

  it('is made again soon, where waiting nodes were to be marked: the rollout does not wait to end', async () => {
    const [, nodePool] = lost;
    const fakes = worker.fakesOf(nodePool);
    poolWithOneMark(nodePool);
    fakes.does.markWaiting = () => (fakes.callsOf('markWaiting').length === 1 ? neverEnds() : Promise.resolve());
    const rollout = await startRollout(worker, nodePool);
    await until('a second attempt', soonMs, () => Promise.resolve(fakes.callsOf('markWaiting')[1]));
    expect(await rollout.result()).toMatchObject({ failures: [] });
  });

  it('is not made again when its worker is only slow', async () => {
    const fakes = worker.fakesOf('slow');
    poolWithOneMark('slow');
    fakes.does.markWaiting = () => delay(slowMs);
    const rollout = await startRollout(worker, 'slow');
    await rollout.result();
    expect(fakes.callsOf('markWaiting')).toHaveLength(1);
  });
});

function neverEnds(): Promise<never> {
  return new Promise(() => undefined);
}

/** A pool at peace; one of its nodes has a soft taint to lose. */
function poolWithOneMark(nodePool: string): void {
  const pool = new ScriptedPool(worker, nodePool);
  pool.settings = { ...pool.settings, quietMs: 20 };
  const fakes = worker.fakesOf(nodePool);
  const observe = fakes.does.observePool.bind(fakes.does);
  fakes.does.observePool = async (input) => {
    const observation = await observe(input);
    const markChanges = fakes.callsOf('markWaiting').length === 0 ? 1 : 0;
    return { ...observation, admission: { ...observation.admission, markChanges } };
  };
}
