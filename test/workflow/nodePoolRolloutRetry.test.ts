import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { WorkflowUpdateFailedError } from '@temporalio/client';

import { replaceNodeWorkflowId } from '../../workflows/ids.js';
import { pokeSignal, retryUpdate, statusQuery } from '../../workflows/messages.js';
import { goOnWaiting, replacementOf } from '../support/fakeActivities.js';
import { uidOf, untilDetails } from '../support/replacements.js';
import { launchesOf, refuseLaunches } from '../support/refusedLaunches.js';
import { rolloutOf, startRollout, steer, untilStatus } from '../support/rollouts.js';
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

describe('retry', () => {
  it('r202: ends a backoff, every time in a round of its own under the same workflow id', async () => {
    const fakes = worker.fakesOf('retries');
    const pool = new ScriptedPool(worker, 'retries');
    pool.settings = { ...pool.settings, quietMs: 20 };
    pool.drift('old-8');
    refuseLaunches(fakes, { 'old-8': [0, 1] });
    const rollout = await startRollout(worker, 'retries');
    for (const rounds of [1, 2]) {
      await untilStatus(rollout, `${rounds} rounds`, ({ failures: [failure] }) => failure?.rounds === rounds);
      expect(await rollout.executeUpdate(retryUpdate, { args: [{}] })).toEqual({ retried: ['old-8'] });
    }

    expect(await rollout.result()).toMatchObject({ replaced: [{ replacement: 'old-8-r2-0' }], failures: [] });
    expect(launchesOf(fakes)).toEqual(['old-8 0', 'old-8 1', 'old-8 2']);
    const { events } = await rollout.fetchHistory();
    const started = (events ?? []).flatMap((event) => event.childWorkflowExecutionStartedEventAttributes ?? []);
    const ids = started.map(({ workflowExecution }) => workflowExecution?.workflowId);
    expect(ids).toEqual(
      Array.from({ length: 3 }, () => replaceNodeWorkflowId(worker.cluster, 'old-8', uidOf('old-8'))),
    );
  });

  it('rejects a name that has not failed, without a trace in the history', async () => {
    const fakes = worker.fakesOf('unknown');
    const pool = new ScriptedPool(worker, 'unknown');
    pool.drift('old-9');
    refuseLaunches(fakes, { 'old-9': [0] });
    const rollout = await startRollout(worker, 'unknown');
    await untilStatus(rollout, 'a failure', ({ failures }) => failures.length === 1);

    const rejected: unknown = await rollout
      .executeUpdate(retryUpdate, { args: [{ nodeClaim: 'old-10' }] })
      .catch((error: unknown) => error);
    expect(rejected).toBeInstanceOf(WorkflowUpdateFailedError);
    expect(rejected).toMatchObject({
      cause: { type: 'NotFailed', message: 'NodeClaim old-10 has not failed in this rollout, nor has it been skipped' },
    });
    const { events } = await rollout.fetchHistory();
    expect((events ?? []).filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes)).toEqual([]);
    expect(await rollout.query(statusQuery)).toMatchObject({ inFlight: [], failures: [{ nodeClaim: 'old-9' }] });
    await rollout.terminate();
  });

  it('starts a rollout where none runs', async () => {
    const fakes = worker.fakesOf('update-with-start');
    const pool = new ScriptedPool(worker, 'update-with-start');
    pool.settings = { ...pool.settings, quietMs: 20 };
    pool.drift('old-11');

    expect(await steer(worker, 'update-with-start', retryUpdate, {})).toEqual({ retried: [] });
    expect(await rolloutOf(worker, 'update-with-start').result()).toMatchObject({
      replaced: [{ nodeClaim: 'old-11' }],
    });
    expect(fakes.callsOf('reserve')).toHaveLength(1);
  });

  it('checks the name once a rollout that it has started has seen the pool', async () => {
    const pool = new ScriptedPool(worker, 'update-with-start-unknown');
    pool.settings = { ...pool.settings, quietMs: 20 };

    await expect(
      steer(worker, 'update-with-start-unknown', retryUpdate, { nodeClaim: 'old-12' }),
    ).rejects.toMatchObject({
      cause: { type: 'NotFailed' },
    });
    expect(pool.looks.length).toBeGreaterThan(0);
  });
});

describe('nodePoolRollout, when somebody stops a replacement by hand', () => {
  it('r172: holds the node until it is retried, and gives its permit to the next one', async () => {
    const fakes = worker.fakesOf('by-hand');
    const pool = new ScriptedPool(worker, 'by-hand');
    pool.settings = { ...pool.settings, quietMs: 20 };
    pool.budget = 2;
    pool.drift('canceled', 'terminated', 'next');
    fakes.does.drain = (ref, launch) =>
      launch?.nodeClaim === replacementOf(ref, { round: 0, attempt: 0 }) && ref.nodeClaim !== 'next'
        ? goOnWaiting()
        : Promise.resolve();
    const rollout = await startRollout(worker, 'by-hand');
    await fakes.called('drain', 2);
    const child = (name: string) =>
      worker.workflows.getHandle(replaceNodeWorkflowId(worker.cluster, name, uidOf(name)));
    await child('canceled').cancel();
    await child('terminated').terminate();

    const { failures } = await untilStatus(
      rollout,
      'both are held and the next one is replaced',
      (status) => status.failures.length === 2 && status.replaced.length === 1,
    );
    expect([...failures].sort((a, b) => a.nodeClaim.localeCompare(b.nodeClaim))).toMatchObject([
      { nodeClaim: 'canceled', code: 'Canceled', held: true, rounds: 1 },
      { nodeClaim: 'terminated', code: 'Terminated', held: true, rounds: 1 },
    ]);
    await rollout.signal(pokeSignal);
    const { input } = await pool.observed(pool.looks.length + 1);
    expect(input.inFlight).toEqual([]);
    expect([...input.held].sort()).toEqual([uidOf('canceled'), uidOf('terminated')]);
    await untilDetails(rollout, '| terminated | Waits for retry | Terminated: terminated by hand |');
    expect(fakes.callsOf('reserve')).toHaveLength(3);

    const { retried } = await rollout.executeUpdate(retryUpdate, { args: [{}] });
    expect([...retried].sort()).toEqual(['canceled', 'terminated']);
    const { replaced } = await rollout.result();
    expect(replaced.map(({ replacement }) => replacement).sort()).toEqual([
      'canceled-r1-0',
      'next-r0-0',
      'terminated-r1-0',
    ]);
  });
});
