import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { until } from '../../demo/until.js';
import {
  everythingGoesWell,
  failLaunch,
  firstOffering,
  goOnWaiting,
  secondOffering,
} from '../support/fakeActivities.js';
import { Gate } from '../support/gate.js';
import { currentDetails, shown, startReplacement } from '../support/replacements.js';
import type { TestWorker } from '../support/testWorker.js';
import { startTestWorker } from '../support/testWorker.js';

let worker: TestWorker;
beforeAll(async () => {
  worker = await startTestWorker();
});
afterAll(async () => {
  await worker.stop();
});

describe('replaceNode', () => {
  it('reserves, launches, drains and deletes, in this order', async () => {
    const fakes = worker.fakesOf('good');
    const handle = await startReplacement(worker.workflows, worker.cluster, 'good', 'old-1');

    expect(await handle.result()).toEqual({
      kind: 'replaced',
      nodeClaim: 'old-1',
      replacement: 'old-1-r0-0',
      reason: 'Drifted',
      reasonDetail: 'ImageDrift',
      offering: firstOffering,
      launchFailures: [],
    });
    const { names } = fakes;
    expect(names.slice(0, 2)).toEqual(['reserve', 'createReplacement']);
    // These two run side by side: either may be first.
    expect([...names.slice(2, 4)].sort()).toEqual(['initialize', 'pollLaunch']);
    expect(names.slice(4)).toEqual(['drain', 'beginDeletion', 'followDeletion']);
    expect(await shown(handle)).toEqual({ status: 'COMPLETED', phase: 'Replaced', errorCode: undefined });
  });

  it('tells every activity which node it is about, and what the ones before it have answered', async () => {
    const fakes = worker.fakesOf('arguments');
    const handle = await startReplacement(worker.workflows, worker.cluster, 'arguments', 'old-1');
    await handle.result();

    const ref = {
      cluster: worker.cluster,
      nodePool: 'arguments',
      nodeClaim: 'old-1',
      uid: 'uid-old-1',
      node: 'node-old-1',
      reason: 'Drifted',
      round: 0,
      workflowId: handle.workflowId,
    };
    expect(fakes.callsOf('reserve').map(({ args }) => args)).toEqual([[ref]]);
    const request = { round: 0, attempt: 0, offering: firstOffering, imageId: 'image-1' };
    expect(fakes.callsOf('createReplacement').map(({ args }) => args)).toEqual([[ref, request]]);
    const launch: unknown = expect.objectContaining({ nodeClaim: 'old-1-r0-0', resumeToken: 'create-old-1-r0-0' });
    expect(fakes.callsOf('pollLaunch').map(({ args }) => args)).toEqual([[ref, launch]]);
    expect(fakes.callsOf('initialize').map(({ args }) => args)).toEqual([[ref, launch, 60_000]]);
    expect(fakes.callsOf('drain').map(({ args }) => args)).toEqual([[ref, launch, null]]);
    expect(fakes.callsOf('beginDeletion').map(({ args }) => args)).toEqual([[ref, launch]]);
    const deletion: unknown = expect.objectContaining({ nodeClaim: 'old-1', resumeToken: 'delete-old-1' });
    expect(fakes.callsOf('followDeletion').map(({ args }) => args)).toEqual([[ref, deletion]]);
  });

  it('goes on when the node is Initialized, whatever the operation says, and stops following it first', async () => {
    const fakes = worker.fakesOf('initialized-first');
    const polled = new Gate();
    fakes.does.pollLaunch = () => {
      polled.open();
      return goOnWaiting();
    };
    fakes.does.initialize = () => polled.opened;
    const handle = await startReplacement(worker.workflows, worker.cluster, 'initialized-first', 'old-1');

    expect(await handle.result()).toMatchObject({ kind: 'replaced' });
    expect(fakes.names).toEqual(expect.arrayContaining(['drain', 'beginDeletion', 'followDeletion']));
    const { events } = await handle.fetchHistory();
    const eventIndex = (isIt: (event: NonNullable<typeof events>[number]) => boolean): number =>
      (events ?? []).findIndex(isIt);
    const canceledAt = eventIndex((event) => Boolean(event.activityTaskCanceledEventAttributes));
    const drainAt = eventIndex((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'drain');
    expect(canceledAt).toBeGreaterThan(0);
    expect(drainAt).toBeGreaterThan(canceledAt);
  });

  it('waits for Initialized when the operation has succeeded', async () => {
    const fakes = worker.fakesOf('poll-first');
    const initialized = new Gate();
    fakes.does.initialize = () => initialized.opened;
    const handle = await startReplacement(worker.workflows, worker.cluster, 'poll-first', 'old-1');

    await fakes.called('pollLaunch');
    await until('the end of pollLaunch in the history', 30_000, async () => {
      const { events } = await handle.fetchHistory();
      // reserve, createReplacement, pollLaunch
      const completed = (events ?? []).filter((event) => event.activityTaskCompletedEventAttributes);
      return completed.length === 3 ? true : undefined;
    });
    expect(await shown(handle)).toMatchObject({ status: 'RUNNING', phase: 'Launch' });
    expect(fakes.names).not.toContain('drain');
    initialized.open();
    expect(await handle.result()).toMatchObject({ kind: 'replaced' });
  });

  it('tries the next offering when a launch has failed, while the failed one is removed', async () => {
    const fakes = worker.fakesOf('second-offering');
    const failure = { nodeClaim: 'old-1-r0-0', code: 'SkuNotAvailable', message: 'sold out' };
    fakes.does.pollLaunch = (_ref, launch) =>
      launch.offering.zone === firstOffering.zone
        ? failLaunch({ ...failure, anotherOffering: true })
        : Promise.resolve();
    fakes.does.initialize = (_ref, launch) =>
      launch.offering.zone === firstOffering.zone ? goOnWaiting() : Promise.resolve();
    const removed = new Gate();
    fakes.does.followDeletion = (_ref, { nodeClaim }) =>
      nodeClaim === failure.nodeClaim ? removed.opened : Promise.resolve();
    const handle = await startReplacement(worker.workflows, worker.cluster, 'second-offering', 'old-1');

    // The whole second launch goes by while the removal of the first one is still held back.
    await fakes.called('followDeletion', 2);
    removed.open();
    expect(await handle.result()).toEqual({
      kind: 'replaced',
      nodeClaim: 'old-1',
      replacement: 'old-1-r0-1',
      reason: 'Drifted',
      reasonDetail: 'ImageDrift',
      offering: secondOffering,
      launchFailures: [failure],
    });
    const [removal, ...others] = fakes.callsOf('beginRemoval');
    expect(removal?.args.slice(1)).toEqual([{ round: 0, attempt: 0 }, false]);
    expect(others).toEqual([]);
    expect(fakes.names).not.toContain('release');
  });

  it('tries the next offering when Azure refuses the PUT itself', async () => {
    const fakes = worker.fakesOf('refused-put');
    const failure = { nodeClaim: 'old-1-r0-0', code: 'ZonalAllocationFailed', message: 'no room' };
    fakes.does.createReplacement = (ref, request) =>
      request.attempt === 0
        ? failLaunch({ ...failure, anotherOffering: true })
        : everythingGoesWell().createReplacement(ref, request);
    const handle = await startReplacement(worker.workflows, worker.cluster, 'refused-put', 'old-1');

    expect(await handle.result()).toMatchObject({ replacement: 'old-1-r0-1', launchFailures: [failure] });
    expect(fakes.callsOf('beginRemoval').map(({ args }) => args[1])).toEqual([{ round: 0, attempt: 0 }]);
    expect(fakes.callsOf('pollLaunch')).toHaveLength(1);
  });

  it('takes the taint off again when the node needs no replacement', async () => {
    const fakes = worker.fakesOf('not-needed');
    fakes.does.reserve = () => Promise.resolve({ kind: 'notNeeded', why: 'it is no longer Drifted' });
    const handle = await startReplacement(worker.workflows, worker.cluster, 'not-needed', 'old-1');

    expect(await handle.result()).toEqual({ kind: 'notNeeded', nodeClaim: 'old-1', why: 'it is no longer Drifted' });
    expect(fakes.names).toEqual(['reserve', 'release']);
    expect(await shown(handle)).toEqual({ status: 'COMPLETED', phase: 'NotNeeded', errorCode: undefined });
  });

  it('shows in the current details what it has done, and what it is doing', async () => {
    const fakes = worker.fakesOf('details');
    const drained = new Gate();
    fakes.does.drain = () => drained.opened;
    const handle = await startReplacement(worker.workflows, worker.cluster, 'details', 'old-1');

    await fakes.called('drain');
    const during = await currentDetails(handle);
    expect(during).toContain(
      '**Drain**: NodeClaim `old-1` (Node `node-old-1`) of NodePool `details`, Drifted: ImageDrift.',
    );
    expect(during).toMatch(/\| Launch 1 \| [\d:.]+ \| [\d.]+ s \| Standard_D2as_v5 in westus2-1 as old-1-r0-0 \|/);
    expect(during).toMatch(/\| Drain \| [\d:.]+ \| running \| to aks-old-1-r0-0 \|/);
    expect(await shown(handle)).toEqual({ status: 'RUNNING', phase: 'Drain', errorCode: undefined });
    drained.open();
    await handle.result();
    const after = await currentDetails(handle);
    expect(after).toContain('**Replaced**');
    expect(after).not.toContain('running');
  });
});
