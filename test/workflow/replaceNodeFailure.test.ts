import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';

import { failLaunch, firstOffering, goOnWaiting } from '../support/fakeActivities.js';
import { Gate } from '../support/gate.js';
import { currentDetails, failureOf, shown, startReplacement } from '../support/replacements.js';
import { startRollout } from '../support/rollouts.js';
import { ScriptedPool } from '../support/scriptedPool.js';
import type { TestWorker } from '../support/testWorker.js';
import { startTestWorker } from '../support/testWorker.js';

const soldOut = { nodeClaim: 'old-1-r0-0', code: 'SkuNotAvailable', message: 'sold out' };

let worker: TestWorker;
beforeAll(async () => {
  worker = await startTestWorker();
});
afterAll(async () => {
  await worker.stop();
});

describe('replaceNode, when something fails', () => {
  it('r084: undoes everything when a launch has failed and no other offering can help, by operations of its own', async () => {
    const fakes = worker.fakesOf('no-other-offering');
    fakes.does.pollLaunch = () => failLaunch({ ...soldOut, anotherOffering: false });
    fakes.does.initialize = goOnWaiting;
    const handle = await startReplacement(worker.workflows, worker.cluster, 'no-other-offering', 'old-1');

    expect(await failureOf(handle)).toMatchObject({
      type: 'SkuNotAvailable',
      message: 'sold out',
      nonRetryable: true,
      details: [{ nodeClaim: 'old-1', launchFailures: [soldOut], leftovers: [] }],
    });
    expect(await shown(handle)).toEqual({ status: 'FAILED', phase: 'Failed', errorCode: 'SkuNotAvailable' });
    expect(fakes.callsOf('beginRemoval').map(({ args }) => args.slice(1))).toEqual([[{ round: 0, attempt: 0 }, false]]);
    expect(fakes.callsOf('followDeletion').map(({ args }) => args[1])).toMatchObject([
      { nodeClaim: 'old-1-r0-0', resumeToken: 'delete-old-1-r0-0' },
    ]);
    expect(fakes.callsOf('release')).toHaveLength(1);
    expect(fakes.names).not.toContain('drain');
    expect(await currentDetails(handle)).toContain('SkuNotAvailable: sold out');
  });

  it('says what it looked for when no offering fits', async () => {
    const fakes = worker.fakesOf('no-offering');
    fakes.does.reserve = () =>
      Promise.resolve({ kind: 'reserved', offerings: [], wanted: 'cpu 64, pods 9', imageId: 'image-1' });
    const handle = await startReplacement(worker.workflows, worker.cluster, 'no-offering', 'old-1');

    expect(await failureOf(handle)).toMatchObject({
      type: 'NoOffering',
      message: 'no offering fits this node: wanted cpu 64, pods 9',
    });
    expect(fakes.names).toEqual(['reserve', 'release']);
  });

  it('passes what the pods ask for on to the create', async () => {
    const fakes = worker.fakesOf('requests');
    const requests = { cpu: '850m', pods: '3' };
    fakes.does.reserve = () =>
      Promise.resolve({ kind: 'reserved', offerings: [firstOffering], requests, imageId: 'image-1' });
    const handle = await startReplacement(worker.workflows, worker.cluster, 'requests', 'old-1');
    await handle.result();
    expect(fakes.callsOf('createReplacement').map(({ args }) => args[1])).toEqual([
      { round: 0, attempt: 0, offering: firstOffering, requests, imageId: 'image-1' },
    ]);
  });

  it('fails with the last code when every offering has failed, and has removed every launch', async () => {
    const fakes = worker.fakesOf('all-offerings');
    fakes.does.pollLaunch = (_ref, { nodeClaim, offering }) =>
      failLaunch({ nodeClaim, code: `NoRoom${offering.zone.at(-1) ?? ''}`, message: 'full', anotherOffering: true });
    fakes.does.initialize = goOnWaiting;
    const handle = await startReplacement(worker.workflows, worker.cluster, 'all-offerings', 'old-1');

    expect(await failureOf(handle)).toMatchObject({
      type: 'NoRoom2',
      details: [{ launchFailures: [{ code: 'NoRoom1' }, { code: 'NoRoom2' }], leftovers: [] }],
    });
    expect(fakes.callsOf('beginRemoval').map(({ args }) => args[1].attempt)).toEqual([0, 1]);
    expect(
      fakes
        .callsOf('followDeletion')
        .map(({ args }) => args[1].nodeClaim)
        .sort(),
    ).toEqual(['old-1-r0-0', 'old-1-r0-1']);
    expect(fakes.callsOf('release')).toHaveLength(1);
  });

  it('fails when the node does not register in time, though its operation still runs', async () => {
    const fakes = worker.fakesOf('registration');
    const failure = { nodeClaim: 'old-1-r0-0', code: 'RegistrationTimeout', message: 'no Node registered' };
    fakes.does.pollLaunch = goOnWaiting;
    fakes.does.initialize = () => failLaunch({ ...failure, anotherOffering: false });
    const handle = await startReplacement(worker.workflows, worker.cluster, 'registration', 'old-1');

    expect(await failureOf(handle)).toMatchObject({
      type: 'RegistrationTimeout',
      details: [{ launchFailures: [failure], leftovers: [] }],
    });
    expect(await shown(handle)).toEqual({ status: 'FAILED', phase: 'Failed', errorCode: 'RegistrationTimeout' });
    expect(fakes.callsOf('beginRemoval')).toHaveLength(1);
    expect(fakes.callsOf('release')).toHaveLength(1);
  });

  it.each(['createReplacement', 'pollLaunch'] as const)(
    'r127: gives a launch up at its own deadline, not at the registration TTL: %s',
    async (step) => {
      const fakes = worker.fakesOf(step);
      fakes.does[step] = goOnWaiting;
      fakes.does.initialize = goOnWaiting;
      const settings = { launchTimeoutMs: 1_000, registrationTtlMs: 60_000, initializeTimeoutMs: 60_000 };
      const handle = await startReplacement(worker.workflows, worker.cluster, step, 'old-1', settings);

      const failure = await failureOf(handle);
      expect(failure).toMatchObject({ type: 'DeadlineExceeded', message: expect.stringContaining(step) });
      expect(fakes.callsOf('beginRemoval')).toHaveLength(1);
      expect(fakes.callsOf('release')).toHaveLength(1);
    },
  );

  it('calls it a deadline when the server gives a wait up', async () => {
    const fakes = worker.fakesOf('deadline');
    fakes.does.drain = goOnWaiting;
    const settings = { drainTimeoutMs: 1_000 };
    const handle = await startReplacement(worker.workflows, worker.cluster, 'deadline', 'old-1', settings);

    expect(await failureOf(handle)).toMatchObject({ type: 'DeadlineExceeded' });
    expect(await shown(handle)).toEqual({ status: 'FAILED', phase: 'Failed', errorCode: 'DeadlineExceeded' });
    expect(fakes.callsOf('beginRemoval').map(({ args }) => args[2])).toEqual([true]);
  });

  it('reports a taint that could not be taken off', async () => {
    const fakes = worker.fakesOf('release-fails');
    fakes.does.pollLaunch = () => failLaunch({ ...soldOut, anotherOffering: false });
    fakes.does.initialize = goOnWaiting;
    fakes.does.release = () => Promise.reject(ApplicationFailure.nonRetryable('not ours any more', 'Refused'));
    const handle = await startReplacement(worker.workflows, worker.cluster, 'release-fails', 'old-1');

    const leftover = 'the taint on node-old-1: release: not ours any more';
    expect(await failureOf(handle)).toMatchObject({ type: 'SkuNotAvailable', details: [{ leftovers: [leftover] }] });
    expect(await currentDetails(handle)).toContain(`- Left: ${leftover}`);
    expect(fakes.callsOf('followDeletion')).toHaveLength(1);
  });

  it('reports a replacement that could not be removed, and one that was kept', async () => {
    const fakes = worker.fakesOf('removal-fails');
    fakes.does.pollLaunch = (_ref, { nodeClaim }) =>
      failLaunch({ nodeClaim, code: 'NoRoom', message: 'full', anotherOffering: true });
    fakes.does.initialize = goOnWaiting;
    fakes.does.beginRemoval = (_ref, { attempt }) =>
      attempt === 0
        ? Promise.reject(ApplicationFailure.nonRetryable('not our NodeClaim', 'Refused'))
        : Promise.resolve({ kind: 'kept', why: 'old-1-r0-1 stays: a pod runs on it' });
    const handle = await startReplacement(worker.workflows, worker.cluster, 'removal-fails', 'old-1');

    const leftovers: unknown = expect.arrayContaining([
      'replacement 1: beginRemoval: not our NodeClaim',
      'old-1-r0-1 stays: a pod runs on it',
    ]);
    expect(await failureOf(handle)).toMatchObject({ type: 'NoRoom', details: [{ leftovers }] });
    expect(fakes.callsOf('release')).toHaveLength(1);
  });

  it('takes the taint off when it could not reserve the node', async () => {
    const fakes = worker.fakesOf('reserve-fails');
    fakes.does.reserve = () => Promise.reject(ApplicationFailure.nonRetryable('tainted by another', 'Refused'));
    const handle = await startReplacement(worker.workflows, worker.cluster, 'reserve-fails', 'old-1');

    expect(await failureOf(handle)).toMatchObject({ type: 'Refused', message: 'reserve: tainted by another' });
    expect(fakes.names).toEqual(['reserve', 'release']);
  });
});

describe('replaceNode and its rollout', () => {
  it('pokes the rollout as soon as the deletion has begun', async () => {
    const nodePool = 'poked';
    const fakes = worker.fakesOf(nodePool);
    const pool = new ScriptedPool(worker, nodePool);
    const deleted = new Gate();
    fakes.does.followDeletion = () => deleted.opened;
    const rollout = await startRollout(worker, nodePool);
    await pool.observed(1);
    const handle = await startReplacement(worker.workflows, worker.cluster, nodePool, 'old-1');

    await pool.observed(2);
    expect(fakes.callsOf('followDeletion').length).toBeLessThanOrEqual(1);
    expect(await shown(handle)).toMatchObject({ status: 'RUNNING', phase: 'Delete' });
    expect(fakes.callsOf('beginDeletion')).toHaveLength(1);
    deleted.open();
    expect(await handle.result()).toMatchObject({ kind: 'replaced' });
    await rollout.terminate();
  });

  it('r199, r200: ends well when there is no rollout to poke', async () => {
    const handle = await startReplacement(worker.workflows, worker.cluster, 'no-rollout', 'old-1');
    expect(await handle.result()).toMatchObject({ kind: 'replaced' });
    const { events } = await handle.fetchHistory();
    const failed = (events ?? []).filter((event) => event.signalExternalWorkflowExecutionFailedEventAttributes);
    expect(failed).toHaveLength(1);
  });
});
