import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';

import { until } from '../../demo/until.js';
import { failureTypes } from '../../workflows/failures.js';
import { everythingGoesWell, goOnWaiting, lookAgainIn } from '../support/fakeActivities.js';
import { Gate } from '../support/gate.js';
import { currentDetails, failureOf, shown, startReplacement } from '../support/replacements.js';
import type { TestWorker } from '../support/testWorker.js';
import { startTestWorker } from '../support/testWorker.js';

const canceled = { status: 'CANCELLED', phase: 'Canceled', errorCode: undefined } as const;

let worker: TestWorker;
beforeAll(async () => {
  worker = await startTestWorker();
});
afterAll(async () => {
  await worker.stop();
});

/** Resolves when the workflow has been told of its cancellation. */
async function cancel(handle: Awaited<ReturnType<typeof startReplacement>>): Promise<void> {
  await handle.cancel();
  await until('the cancellation in the history', 30_000, async () => {
    const { events = [] } = await handle.fetchHistory();
    const at = events?.findIndex((event) => event.workflowExecutionCancelRequestedEventAttributes) ?? -1;
    const isHandled = at >= 0 && events?.slice(at).some((event) => event.workflowTaskCompletedEventAttributes);
    return isHandled === true ? true : undefined;
  });
}

describe('replaceNode, when it is canceled', () => {
  it('r119: undoes a launch', async () => {
    const fakes = worker.fakesOf('launching');
    fakes.does.pollLaunch = goOnWaiting;
    fakes.does.initialize = goOnWaiting;
    const handle = await startReplacement(worker.workflows, worker.cluster, 'launching', 'old-1');
    await Promise.all([fakes.called('pollLaunch'), fakes.called('initialize')]);
    await handle.cancel();

    expect(await failureOf(handle)).toBeInstanceOf(CancelledFailure);
    expect(await shown(handle)).toEqual(canceled);
    expect(fakes.callsOf('beginRemoval').map(({ args }) => args.slice(1))).toEqual([[{ round: 0, attempt: 0 }, false]]);
    expect(fakes.callsOf('followDeletion').map(({ args }) => args[1].nodeClaim)).toEqual(['old-1-r0-0']);
    expect(fakes.callsOf('release')).toHaveLength(1);
    expect(fakes.names).not.toContain('drain');
    expect(await currentDetails(handle)).toContain('canceled by hand');
  });

  it('undoes a launch whose PUT was under way, and begins no other', async () => {
    const fakes = worker.fakesOf('creating');
    const created = new Gate();
    fakes.does.createReplacement = async (ref, request) => {
      await created.opened;
      return await everythingGoesWell().createReplacement(ref, request);
    };
    const handle = await startReplacement(worker.workflows, worker.cluster, 'creating', 'old-1');
    await fakes.called('createReplacement');
    await cancel(handle);
    created.open();

    expect(await failureOf(handle)).toBeInstanceOf(CancelledFailure);
    expect(await shown(handle)).toEqual(canceled);
    expect(fakes.callsOf('createReplacement')).toHaveLength(1);
    expect(fakes.callsOf('beginRemoval')).toHaveLength(1);
    expect(fakes.callsOf('release')).toHaveLength(1);
  });

  it('asks to keep the replacement once an eviction may have begun', async () => {
    const fakes = worker.fakesOf('draining');
    fakes.does.drain = goOnWaiting;
    fakes.does.beginRemoval = () =>
      Promise.resolve({ kind: 'kept', why: 'old-1-r0-0 stays: pods may be on their way' });
    const handle = await startReplacement(worker.workflows, worker.cluster, 'draining', 'old-1');
    await fakes.called('drain');
    await handle.cancel();

    expect(await failureOf(handle)).toBeInstanceOf(CancelledFailure);
    expect(await shown(handle)).toEqual(canceled);
    expect(fakes.callsOf('beginRemoval').map(({ args }) => args.slice(1))).toEqual([[{ round: 0, attempt: 0 }, true]]);
    expect(fakes.callsOf('release')).toHaveLength(1);
    expect(fakes.names).not.toContain('beginDeletion');
    expect(await currentDetails(handle)).toContain('- Left: old-1-r0-0 stays: pods may be on their way');
  });

  it('stays canceled when an attempt that was running ends by waiting on', async () => {
    const fakes = worker.fakesOf('running-attempt');
    const looked = new Gate();
    fakes.does.drain = async () => {
      await looked.opened;
      throw ApplicationFailure.create({ type: failureTypes.waiting, message: '3 pods are left' });
    };
    const handle = await startReplacement(worker.workflows, worker.cluster, 'running-attempt', 'old-1');
    await fakes.called('drain');
    await cancel(handle);
    looked.open();

    expect(await failureOf(handle)).toBeInstanceOf(CancelledFailure);
    expect(await shown(handle)).toEqual(canceled);
    expect(fakes.callsOf('drain')).toHaveLength(1);
    expect(fakes.callsOf('release')).toHaveLength(1);
  });

  it('evicts nothing when the node turns out Initialized after it', async () => {
    const fakes = worker.fakesOf('initialized-late');
    const initialized = new Gate();
    fakes.does.initialize = () => initialized.opened;
    const handle = await startReplacement(worker.workflows, worker.cluster, 'initialized-late', 'old-1');
    await fakes.called('initialize');
    await cancel(handle);
    initialized.open();

    expect(await failureOf(handle)).toBeInstanceOf(CancelledFailure);
    expect(fakes.names).not.toContain('drain');
    expect(fakes.callsOf('beginRemoval').map(({ args }) => args[2])).toEqual([false]);
    expect(fakes.callsOf('release')).toHaveLength(1);
  });

  it('deletes nothing when the last pod leaves after it', async () => {
    const fakes = worker.fakesOf('drained-late');
    const drained = new Gate();
    fakes.does.drain = () => drained.opened;
    const handle = await startReplacement(worker.workflows, worker.cluster, 'drained-late', 'old-1');
    await fakes.called('drain');
    await cancel(handle);
    drained.open();

    expect(await failureOf(handle)).toBeInstanceOf(CancelledFailure);
    expect(await shown(handle)).toEqual(canceled);
    expect(fakes.names).not.toContain('beginDeletion');
    expect(fakes.callsOf('beginRemoval').map(({ args }) => args[2])).toEqual([true]);
    expect(fakes.callsOf('release')).toHaveLength(1);
  });

  it('r119: goes through to the end once the old node is being deleted', async () => {
    const fakes = worker.fakesOf('deleting');
    let isDeleted = false;
    fakes.does.followDeletion = () => (isDeleted ? Promise.resolve() : lookAgainIn(20));
    const handle = await startReplacement(worker.workflows, worker.cluster, 'deleting', 'old-1');
    await fakes.called('followDeletion');
    await cancel(handle);
    const { length } = fakes.callsOf('followDeletion');
    // It is not told: further attempts come.
    await fakes.called('followDeletion', length + 2);
    isDeleted = true;

    expect(await handle.result()).toMatchObject({ kind: 'replaced', nodeClaim: 'old-1' });
    expect(await shown(handle)).toEqual({ status: 'COMPLETED', phase: 'Replaced', errorCode: undefined });
    expect(fakes.names).not.toContain('beginRemoval');
    expect(fakes.names).not.toContain('release');
  });
});
