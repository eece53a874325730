import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CancelledFailure } from '@temporalio/common';

import { replaceNodeWorkflowId } from '../../workflows/ids.js';
import { cancelUpdate, retryUpdate, statusQuery } from '../../workflows/messages.js';
import { goOnWaiting } from '../support/fakeActivities.js';
import { failureOf, uidOf, untilDetails } from '../support/replacements.js';
import { refusalOf, startRollout, untilStatus } from '../support/rollouts.js';
import { ScriptedPool } from '../support/scriptedPool.js';
import type { TestWorker } from '../support/testWorker.js';
import { startTestWorker } from '../support/testWorker.js';

const ana = { by: 'ana', why: 'the wrong image' };

let worker: TestWorker;
beforeAll(async () => {
  worker = await startTestWorker();
});
afterAll(async () => {
  await worker.stop();
});

/** A pool whose nodes are all initializing in their first round, and go through in later ones. */
function waitingPool(nodePool: string, ...nodeClaims: readonly string[]): ScriptedPool {
  const fakes = worker.fakesOf(nodePool);
  const pool = new ScriptedPool(worker, nodePool);
  pool.settings = { ...pool.settings, quietMs: 20 };
  pool.drift(...nodeClaims);
  fakes.does.initialize = ({ round, nodeClaim }) =>
    round === 0 && nodeClaim !== 'other' ? goOnWaiting() : Promise.resolve();
  fakes.does.pollLaunch = ({ round, nodeClaim }) =>
    round === 0 && nodeClaim !== 'other' ? goOnWaiting() : Promise.resolve();
  return pool;
}

describe('cancel', () => {
  it('has all that is under way undo what it did and wait for a person; the others go on', async () => {
    const fakes = worker.fakesOf('cancel-all');
    const pool = waitingPool('cancel-all', 'old-1', 'old-2', 'other');
    pool.budget = 2;
    const rollout = await startRollout(worker, 'cancel-all');
    await fakes.called('initialize', 2);

    const { canceled } = await rollout.executeUpdate(cancelUpdate, { args: [ana] });
    expect([...canceled].sort()).toEqual(['old-1', 'old-2']);
    const status = await untilStatus(
      rollout,
      'both are held, the other is replaced',
      ({ failures, replaced }) => failures.length === 2 && replaced.length === 1,
    );
    expect(status).toMatchObject({
      replaced: [{ nodeClaim: 'other' }],
      backoffUntil: null,
      halted: null,
      interventions: [{ ...ana, what: 'cancel', nodeClaim: null }],
    });
    expect(status.failures.map(({ code, held }) => ({ code, held }))).toEqual([
      { code: 'Canceled', held: true },
      { code: 'Canceled', held: true },
    ]);
    const released = fakes.callsOf('release').map(({ args }) => args[0].nodeClaim);
    expect(released.sort()).toEqual(['old-1', 'old-2']);
    expect(fakes.callsOf('beginRemoval')).toHaveLength(2);
    const details = await untilDetails(rollout, '| old-1 | Waits for retry | Canceled: canceled by hand |');
    expect(details).toContain('cancel by ana: the wrong image');

    await rollout.executeUpdate(retryUpdate, { args: [{}] });
    const { replaced } = await rollout.result();
    expect(replaced.map(({ nodeClaim }) => nodeClaim).sort()).toEqual(['old-1', 'old-2', 'other']);
  });

  it('of one name is for that one; of another one it is refused', async () => {
    const fakes = worker.fakesOf('cancel-one');
    waitingPool('cancel-one', 'old-3', 'old-4');
    const rollout = await startRollout(worker, 'cancel-one');
    await fakes.called('initialize', 2);

    const cancel = (nodeClaim: string) => rollout.executeUpdate(cancelUpdate, { args: [{ ...ana, nodeClaim }] });
    expect(await refusalOf(cancel('nobody'))).toMatchObject({
      type: 'InvalidRequest',
      message: 'NodeClaim nobody is not being replaced',
    });
    expect(await cancel('old-3')).toEqual({ canceled: ['old-3'] });
    await untilStatus(rollout, 'it is held', ({ failures }) => failures.length === 1);
    expect(await rollout.query(statusQuery)).toMatchObject({
      inFlight: ['old-4'],
      failures: [{ nodeClaim: 'old-3' }],
      interventions: [{ ...ana, what: 'cancel', nodeClaim: 'old-3' }],
    });
    await rollout.terminate();
  });

  it('is heeded by a rollout that is canceled itself and waits for its children', async () => {
    const fakes = worker.fakesOf('cancel-canceled');
    waitingPool('cancel-canceled', 'old-5');
    const rollout = await startRollout(worker, 'cancel-canceled');
    await fakes.called('initialize');
    await rollout.cancel();

    expect(await rollout.executeUpdate(cancelUpdate, { args: [ana] })).toEqual({ canceled: ['old-5'] });
    expect(await failureOf(rollout)).toBeInstanceOf(CancelledFailure);
    const child = worker.workflows.getHandle(replaceNodeWorkflowId(worker.cluster, 'old-5', uidOf('old-5')));
    expect(await failureOf(child)).toBeInstanceOf(CancelledFailure);
    expect(fakes.callsOf('release')).toHaveLength(1);
  });
});
