import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';

import { pokeSignal } from '../../workflows/messages.js';
import { uidOf, untilDetails } from '../support/replacements.js';
import { launchesOf, noRoom, refuseLaunches } from '../support/refusedLaunches.js';
import { startRollout, untilStatus } from '../support/rollouts.js';
import { ScriptedPool } from '../support/scriptedPool.js';
import type { TestWorker } from '../support/testWorker.js';
import { startTestWorker } from '../support/testWorker.js';

jest.setTimeout(20_000);

let worker: TestWorker;
beforeAll(async () => {
  worker = await startTestWorker();
});
afterAll(async () => {
  await worker.stop();
});

describe('nodePoolRollout, when a replacement has failed', () => {
  it('starts nothing until the backoff has ended, then tries again in the next round', async () => {
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
