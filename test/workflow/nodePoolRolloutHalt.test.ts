import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';

import { failureTypes } from '../../workflows/failures.js';
import { retryUpdate } from '../../workflows/messages.js';
import { uidOf, untilDetails } from '../support/replacements.js';
import { launchesOf, refuseLaunches } from '../support/refusedLaunches.js';
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

describe('nodePoolRollout, when one replacement after the other fails', () => {
  it('r033: halts after so many failures in a row, until somebody retries', async () => {
    const fakes = worker.fakesOf('halt');
    const pool = new ScriptedPool(worker, 'halt');
    pool.settings = { ...pool.settings, backoffMs: 1, backoffMaxMs: 1, haltAfterFailures: 2, quietMs: 20 };
    pool.budget = 1;
    pool.drift('old-3', 'old-4');
    refuseLaunches(fakes, { 'old-3': [0], 'old-4': [0] });
    const rollout = await startRollout(worker, 'halt');

    const { halted } = await untilStatus(rollout, 'a halt', (status) => status.halted !== null);
    expect(halted).toContain('2 replacements in a row failed');
    // It goes on looking, and starts nothing: a child that it had started would be in flight at the look after.
    await lookAgain(rollout, pool);
    await lookAgain(rollout, pool);
    const last = pool.looks.at(-1);
    expect(last?.observation.admission.start).toHaveLength(1);
    expect(last?.input.inFlight).toEqual([]);
    expect(launchesOf(fakes)).toEqual(['old-3 0', 'old-4 0']);
    await untilDetails(rollout, '**Halted**');

    expect(await rollout.executeUpdate(retryUpdate, { args: [{ nodeClaim: 'old-4' }] })).toEqual({
      retried: ['old-4'],
    });
    const result = await rollout.result();
    expect(pool.looks.map(({ input }) => input.first)).toContainEqual([uidOf('old-4')]);
    // The retried one goes first, though the other one has failed before it.
    expect(launchesOf(fakes)).toEqual(['old-3 0', 'old-4 0', 'old-4 1', 'old-3 1']);
    expect(result.replaced.map(({ nodeClaim }) => nodeClaim)).toEqual(['old-4', 'old-3']);
    expect(result.failures).toEqual([]);
  });

  it('halts at once when a replacement is born drifted: the next one would be too', async () => {
    const fakes = worker.fakesOf('born-drifted');
    const pool = new ScriptedPool(worker, 'born-drifted');
    pool.settings = { ...pool.settings, backoffMs: 1, backoffMaxMs: 1, quietMs: 20 };
    pool.budget = 1;
    pool.drift('old-7', 'old-8');
    fakes.does.drain = ({ round }) =>
      round === 0
        ? Promise.reject(ApplicationFailure.nonRetryable('old-7-r0-0 is Drifted already', failureTypes.bornDrifted))
        : Promise.resolve();
    const rollout = await startRollout(worker, 'born-drifted');

    const { halted, failures } = await untilStatus(rollout, 'a halt', (status) => status.halted !== null);
    expect(halted).toBe('drain: old-7-r0-0 is Drifted already; retry when the cause is gone');
    expect(failures).toMatchObject([{ nodeClaim: 'old-7', code: 'BornDrifted', rounds: 1, held: false }]);
    await lookAgain(rollout, pool);
    expect((await lookAgain(rollout, pool)).input.inFlight).toEqual([]);
    expect(fakes.callsOf('reserve')).toHaveLength(1);

    fakes.does.drain = () => Promise.resolve();
    expect(await rollout.executeUpdate(retryUpdate, { args: [{}] })).toEqual({ retried: ['old-7'] });
    expect((await rollout.result()).replaced).toHaveLength(2);
  });

  it('does not halt when a success stands between the failures', async () => {
    const fakes = worker.fakesOf('no-halt');
    const pool = new ScriptedPool(worker, 'no-halt');
    pool.settings = { ...pool.settings, backoffMs: 1, backoffMaxMs: 1, haltAfterFailures: 2, quietMs: 20 };
    pool.budget = 1;
    pool.drift('old-5', 'old-6');
    refuseLaunches(fakes, { 'old-5': [0, 1] });
    const rollout = await startRollout(worker, 'no-halt');

    const { replaced } = await rollout.result();
    expect(launchesOf(fakes)).toEqual(['old-5 0', 'old-6 0', 'old-5 1', 'old-5 2']);
    expect(replaced.map(({ nodeClaim }) => nodeClaim)).toEqual(['old-6', 'old-5']);
  });
});
