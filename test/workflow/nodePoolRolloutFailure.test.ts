import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';

import { failureTypes } from '../../workflows/failures.js';
import { pokeSignal } from '../../workflows/messages.js';
import { uidOf, untilDetails } from '../support/replacements.js';
import { launchesOf, noRoom, refuseLaunches } from '../support/refusedLaunches.js';
import { lookAgain, startRollout, untilStatus } from '../support/rollouts.js';
import { ScriptedPool } from '../support/scriptedPool.js';
import type { TestWorker } from '../support/testWorker.js';
import { startTestWorker } from '../support/testWorker.js';

let worker: TestWorker;
beforeAll(async () => {
  worker = await startTestWorker();
});
afterAll(async () => {
  await worker.stop();
});

describe('nodePoolRollout, when a replacement has failed', () => {
  it('r126: starts nothing until the backoff has ended, then tries again in the next round', async () => {
    const fakes = worker.fakesOf('backoff');
    const pool = new ScriptedPool(worker, 'backoff');
    pool.settings = { ...pool.settings, backoffMs: 1_500, quietMs: 20 };
    pool.budget = 1;
    pool.drift('old-1', 'old-2');
    refuseLaunches(fakes, { 'old-1': [0] });
    const rollout = await startRollout(worker, 'backoff');

    const { backoffUntil, failures } = await untilStatus(
      rollout,
      'a backoff',
      (status) => status.backoffUntil !== null,
    );
    const { code, message } = noRoom;
    expect(failures).toMatchObject([{ nodeClaim: 'old-1', code, message, rounds: 1, held: false }]);
    await untilDetails(rollout, '**Backing off** until');
    await rollout.result();
    const backoffEndsAtMs = Date.parse(backoffUntil ?? '');
    // The pool would have let old-2 start at once.
    const ignored = pool.looks.filter(
      ({ atMs, observation }) => atMs < backoffEndsAtMs && observation.admission.start[0]?.nodeClaim === 'old-2',
    );
    expect(ignored.map(({ input }) => input.last)).toContainEqual([uidOf('old-1')]);
    const [, second] = fakes.callsOf('reserve');
    expect(second?.atMs).toBeGreaterThanOrEqual(backoffEndsAtMs);
    expect(launchesOf(fakes)).toEqual(['old-1 0', 'old-2 0', 'old-1 1']);
  });

  it('r168: says which node failed and why, and is not over, let alone green', async () => {
    const fakes = worker.fakesOf('not-green');
    const pool = new ScriptedPool(worker, 'not-green');
    pool.settings = { ...pool.settings, quietMs: 20 };
    pool.drift('old-1', 'old-2');
    refuseLaunches(fakes, { 'old-1': [0] });
    const rollout = await startRollout(worker, 'not-green');

    const { failures, replaced } = await untilStatus(
      rollout,
      'one has failed, the other is replaced',
      (status) => status.failures.length + status.replaced.length === 2,
    );
    expect(replaced).toMatchObject([{ nodeClaim: 'old-2' }]);
    const { code, message } = noRoom;
    expect(failures).toMatchObject([
      { nodeClaim: 'old-1', reason: 'Drifted', reasonDetail: 'ImageDrift', code, message },
    ]);
    await untilDetails(rollout, `${code}: ${message}`);
    const { input } = await lookAgain(rollout, pool);
    expect(input.last).toEqual([uidOf('old-1')]);
    expect((await rollout.describe()).status.name).toBe('RUNNING');
    await rollout.terminate();
  });

  it('r169: puts a node whose drain fails behind all others, each time', async () => {
    const fakes = worker.fakesOf('stubborn');
    const pool = new ScriptedPool(worker, 'stubborn');
    pool.settings = { ...pool.settings, backoffMs: 1, backoffMaxMs: 1, quietMs: 20 };
    pool.budget = 1;
    const others = ['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
    pool.drift('a', ...others);
    fakes.does.drain = ({ nodeClaim, round }) =>
      nodeClaim === 'a' && round < 2
        ? Promise.reject(ApplicationFailure.nonRetryable('a budget lets nothing go', failureTypes.deadlineExceeded))
        : Promise.resolve();
    const rollout = await startRollout(worker, 'stubborn');

    const { replaced } = await rollout.result();
    const order = fakes.callsOf('reserve').map(({ args: [{ nodeClaim }] }) => nodeClaim);
    expect(order).toEqual(['a', ...others, 'a', 'a']);
    expect(replaced.map(({ nodeClaim }) => nodeClaim)).toEqual([...others, 'a']);
  }, 60_000);

  it('r172: gives the permit of a node that somebody else has deleted to the next one', async () => {
    const fakes = worker.fakesOf('deleted');
    const pool = new ScriptedPool(worker, 'deleted');
    pool.settings = { ...pool.settings, backoffMs: 1, backoffMaxMs: 1, quietMs: 20 };
    pool.budget = 1;
    pool.drift('deleted', 'next');
    fakes.does.drain = ({ nodeClaim }) => {
      if (nodeClaim === 'next') return Promise.resolve();
      pool.settle('deleted');
      return Promise.reject(ApplicationFailure.nonRetryable('NodeClaim deleted is gone', failureTypes.refused));
    };
    const rollout = await startRollout(worker, 'deleted');

    const { replaced, failures } = await rollout.result();
    expect(replaced.map(({ nodeClaim }) => nodeClaim)).toEqual(['next']);
    expect(failures).toEqual([]);
    expect(fakes.callsOf('reserve')).toHaveLength(2);
  });

  it('forgets the failure of a NodeClaim that is gone', async () => {
    const fakes = worker.fakesOf('gone');
    const pool = new ScriptedPool(worker, 'gone');
    pool.settings = { ...pool.settings, quietMs: 20 };
    pool.drift('old-7');
    refuseLaunches(fakes, { 'old-7': [0] });
    const rollout = await startRollout(worker, 'gone');
    await untilStatus(rollout, 'a failure', ({ failures }) => failures.length === 1);
    pool.settle('old-7');
    await rollout.signal(pokeSignal);
    await untilStatus(rollout, 'no failure', ({ failures }) => failures.length === 0);
    // The backoff of ten minutes does not keep a pool without candidates.
    expect(await rollout.result()).toMatchObject({ replaced: [], failures: [] });
  });
});
