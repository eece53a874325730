import { ApplicationFailure } from '@temporalio/common';
import { afterAll, beforeAll, describe, it, jest } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';

import { failureTypes } from '../../workflows/failures.js';
import { replaceNodeWorkflowId, taskQueueName } from '../../workflows/ids.js';
import { cancelUpdate, pauseUpdate, resumeUpdate, retryUpdate, skipUpdate } from '../../workflows/messages.js';
import type { Reservation } from '../../workflows/replacementTypes.js';
import type { sweepOrphans } from '../../workflows/sweepOrphans.js';
import { everythingGoesWell, failLaunch, firstOffering, goOnWaiting, replacementOf } from './fakeActivities.js';
import type { HistoryName } from './histories.js';
import { writeHistory } from './histories.js';
import { Gate } from './gate.js';
import { failureOf, startReplacement, uidOf } from './replacements.js';
import { startRollout, startShortRollout, untilStatus } from './rollouts.js';
import { ScriptedPool } from './scriptedPool.js';
import type { TestWorker } from './testWorker.js';
import { startTestWorker } from './testWorker.js';

/** Not a test: writes the histories that replay.test.ts reads. See test/histories/README.md. */
jest.setTimeout(60_000);

let worker: TestWorker;
beforeAll(async () => {
  worker = await startTestWorker();
});
afterAll(async () => {
  await worker.stop();
});

/** An earlier round came as far as an Initialized replacement. */
const adopted: Reservation = {
  kind: 'reserved',
  offerings: [firstOffering],
  imageId: 'image-1',
  adopted: {
    name: { round: 0, attempt: 0 },
    launch: {
      nodeClaim: 'new-1',
      uid: 'uid-new-1',
      virtualMachine: 'aks-new-1',
      providerId: 'azure:///new-1',
      offering: firstOffering,
      resumeToken: null,
    },
  },
};

function replacement(nodeClaim: string): WorkflowHandle {
  return worker.workflows.getHandle(replaceNodeWorkflowId(worker.cluster, nodeClaim, uidOf(nodeClaim)));
}

/** A pool whose rollout ends soon after its last node. */
function quickPool(nodePool: string): ScriptedPool {
  const pool = new ScriptedPool(worker, nodePool);
  pool.settings = { ...pool.settings, childCheckMs: 50, quietMs: 20 };
  return pool;
}

async function store(name: HistoryName, handle: Pick<WorkflowHandle, 'fetchHistory'>): Promise<void> {
  await writeHistory(name, await handle.fetchHistory());
}

describe('histories', () => {
  it('of a rollout whose replacements go well', async () => {
    const pool = quickPool('good');
    pool.budget = 1;
    pool.drift('good-1', 'good-2');
    const rollout = await startRollout(worker, 'good');
    await rollout.result();
    await store('rollout', rollout);
    await store('replacement', replacement('good-1'));
  });

  it('of a launch that fails in every offering, and is retried by hand', async () => {
    const fakes = worker.fakesOf('failing');
    quickPool('failing').drift('failing-1');
    fakes.does.createReplacement = async (ref, request) => {
      const code = `NoRoom${request.attempt + 1}`;
      if (request.round === 0)
        return await failLaunch({
          nodeClaim: replacementOf(ref, request),
          code,
          message: 'full',
          anotherOffering: true,
        });
      return await everythingGoesWell().createReplacement(ref, request);
    };
    const rollout = await startRollout(worker, 'failing');
    await untilStatus(rollout, 'a failure', ({ failures }) => failures.length === 1);
    await store('replacementLaunchFailed', replacement('failing-1'));
    await rollout.executeUpdate(retryUpdate, { args: [{ nodeClaim: 'failing-1' }] });
    await rollout.result();
    await store('rolloutWithRetry', rollout);
  });

  it.each<{ readonly name: HistoryName; readonly reservation: Reservation }>([
    { name: 'replacementEmpty', reservation: { kind: 'empty', earlier: [{ round: 0, attempt: 0 }] } },
    { name: 'replacementNotNeeded', reservation: { kind: 'notNeeded', why: 'its drift has cleared' } },
    { name: 'replacementAdopted', reservation: adopted },
  ])('of a replacement that ends otherwise: $name', async ({ name, reservation }) => {
    const fakes = worker.fakesOf(name);
    fakes.does.reserve = () => Promise.resolve(reservation);
    const handle = await startReplacement(worker.workflows, worker.cluster, name, `${name}-1`);
    await handle.result();
    await store(name, handle);
  });

  it('of a replacement whose node does not drain', async () => {
    const fakes = worker.fakesOf('undrained');
    fakes.does.drain = () =>
      Promise.reject(
        ApplicationFailure.create({
          type: failureTypes.deadlineExceeded,
          message: 'a pod is not let go',
          nonRetryable: true,
          details: [{ evictionBegan: true }],
        }),
      );
    fakes.does.beginRemoval = () => Promise.resolve({ kind: 'kept', why: 'pods are on their way' });
    const handle = await startReplacement(worker.workflows, worker.cluster, 'undrained', 'undrained-1');
    await failureOf(handle);
    await store('replacementDrainFailed', handle);
  });

  it('of a replacement that the kill switch has stopped for a while', async () => {
    const fakes = worker.fakesOf('stopped');
    const pause = (): Promise<never> =>
      Promise.reject(ApplicationFailure.nonRetryable('ConfigMap driftless says so', failureTypes.paused));
    const { does } = fakes;
    const [createReplacement, drain] = [does.createReplacement.bind(does), does.drain.bind(does)];
    does.createReplacement = (ref, request) =>
      fakes.callsOf('createReplacement').length === 1 ? pause() : createReplacement(ref, request);
    does.drain = (ref, launch, paused) => (fakes.callsOf('drain').length === 1 ? pause() : drain(ref, launch, paused));
    const handle = await startReplacement(worker.workflows, worker.cluster, 'stopped', 'stopped-1');
    await handle.result();
    await store('replacementPaused', handle);
  });

  it('of a sweep', async () => {
    const { workflows, cluster } = worker;
    const sweep = await workflows.start<typeof sweepOrphans>('sweepOrphans', {
      workflowId: `sweep/${cluster}`,
      taskQueue: taskQueueName(cluster),
      args: [{ cluster }],
    });
    await sweep.result();
    await store('sweep', sweep);
  });

  it('of a replacement that is canceled during its drain', async () => {
    const fakes = worker.fakesOf('canceled');
    quickPool('canceled').drift('canceled-1');
    fakes.does.drain = goOnWaiting;
    const rollout = await startRollout(worker, 'canceled');
    await fakes.called('drain');
    await replacement('canceled-1').cancel();
    await failureOf(replacement('canceled-1'));
    await store('replacementCanceled', replacement('canceled-1'));
    await rollout.terminate();
  });

  it('of a rollout that people pause and resume, with a NodeClaim skipped and a replacement canceled', async () => {
    const fakes = worker.fakesOf('paused');
    const pool = quickPool('paused');
    pool.budget = 1;
    pool.drift('paused-1', 'paused-2', 'paused-3');
    fakes.does.drain = ({ nodeClaim, round }) =>
      nodeClaim === 'paused-1' && round === 0 ? goOnWaiting() : Promise.resolve();
    const rollout = await startRollout(worker, 'paused');
    await fakes.called('drain');
    const asker = { by: 'ana', why: 'a rehearsal' };
    await rollout.executeUpdate(pauseUpdate, { args: [asker] });
    const until = new Date(Date.now() + 3_600_000).toISOString();
    await rollout.executeUpdate(skipUpdate, { args: [{ ...asker, nodeClaim: 'paused-3', until }] });
    await rollout.executeUpdate(cancelUpdate, { args: [{ ...asker, nodeClaim: 'paused-1' }] });
    await untilStatus(rollout, 'it is held', ({ failures }) => failures.length === 1);
    await rollout.executeUpdate(resumeUpdate, { args: [asker] });
    await untilStatus(rollout, 'the other is replaced', ({ replaced }) => replaced.length === 1);
    await rollout.executeUpdate(retryUpdate, { args: [{ ...asker, nodeClaim: 'paused-1' }] });
    await rollout.executeUpdate(retryUpdate, { args: [{}] });
    await rollout.result();
    await store('rolloutPaused', rollout);
  });

  it('of a rollout that was continued as new with a child in flight', async () => {
    const fakes = worker.fakesOf('continued');
    const pool = quickPool('continued');
    // Long enough for the second run to be still the same one when it is asked for its id.
    pool.settings = { ...pool.settings, childCheckMs: 1_000 };
    pool.drift('continued-1');
    const reserved = new Gate();
    fakes.does.reserve = async (ref) => {
      await reserved.opened;
      return await everythingGoesWell().reserve(ref);
    };
    const rollout = await startShortRollout(worker, 'continued', 12);
    // A child that the run has not started itself: it was carried over.
    await pool.seen(({ describe: children }) => children.length > 0);
    const { runId } = await rollout.describe();
    reserved.open();
    await rollout.result();
    await store('rolloutContinued', worker.workflows.getHandle(rollout.workflowId, runId));
  });
});
