import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { DrainCluster, protectedPod } from '../support/drainCluster.js';
import { everythingGoesWell } from '../support/fakeActivities.js';
import { currentDetails, failureOf, startReplacement } from '../support/replacements.js';
import type { TestWorker } from '../support/testWorker.js';
import { startTestWorker } from '../support/testWorker.js';

let worker: TestWorker;
let drains: DrainCluster;
beforeAll(async () => {
  [worker, drains] = await Promise.all([startTestWorker(), DrainCluster.start()]);
});
afterAll(async () => {
  await worker.stop();
  await drains.stop();
});

/** What stood in the way at the start and, as the failure says, at the end. */
function sinceIn(text: string): string | undefined {
  return /since (\S+):/.exec(text)?.[1];
}

describe('replaceNode, when its node does not drain', () => {
  it('r141, r142: undoes everything at the timeout when a budget has let nothing go, and names it', async () => {
    const fakes = worker.fakesOf('never');
    const node = await drains.node('never');
    await drains.pod('never-0', node.ref.node);
    await drains.budget('never', { app: 'never-0' }, 0);
    fakes.does.drain = () => drains.drain(node);
    const settings = { drainTimeoutMs: 1_500 };
    const handle = await startReplacement(worker.workflows, worker.cluster, 'never', 'old-1', settings);

    const failure = await failureOf(handle);
    expect(failure).toMatchObject({ type: 'DeadlineExceeded', details: [{ leftovers: [] }] });
    expect(failure?.message).toContain('The disruption budget never needs 1 healthy pods and has 1 currently');
    expect(fakes.callsOf('drain').length).toBeGreaterThan(2);
    // Kept by Temporal from one attempt to the next: since when, and that it is told already.
    const secondAtMs = fakes.callsOf('drain')[1]?.atMs ?? 0;
    expect(Date.parse(sinceIn(failure?.message ?? '') ?? '')).toBeLessThan(secondAtMs);
    expect(drains.events('never')).toHaveLength(1);
    expect(fakes.callsOf('beginRemoval').map(({ args }) => args[2])).toEqual([false]);
    expect(fakes.callsOf('followDeletion').map(({ args }) => args[1].nodeClaim)).toEqual(['old-1-r0-0']);
    expect(fakes.callsOf('release')).toHaveLength(1);
  });

  it('r051: undoes everything when do-not-disrupt has held it', async () => {
    const fakes = worker.fakesOf('held');
    const node = await drains.node('held');
    await drains.pod('held-0', node.ref.node, protectedPod);
    fakes.does.drain = () => drains.drain(node);
    const settings = { drainTimeoutMs: 1_500 };
    const handle = await startReplacement(worker.workflows, worker.cluster, 'held', 'old-1', settings);

    expect((await failureOf(handle))?.message).toContain('karpenter.sh/do-not-disrupt: "true"');
    expect(drains.requestsAbout('held-0')).toEqual([]);
    expect(fakes.callsOf('beginRemoval').map(({ args }) => args[2])).toEqual([false]);
    expect(fakes.callsOf('release')).toHaveLength(1);
  });

  it('keeps the replacement when a pod has been evicted', async () => {
    const fakes = worker.fakesOf('began');
    const node = await drains.node('began');
    await drains.pod('began-0', node.ref.node);
    fakes.does.drain = () => drains.drain(node);
    fakes.does.beginRemoval = (_ref, _name, evictionBegan) =>
      Promise.resolve(evictionBegan ? { kind: 'kept', why: 'pods are on their way' } : { kind: 'nothing' });
    const settings = { drainTimeoutMs: 500 };
    const handle = await startReplacement(worker.workflows, worker.cluster, 'began', 'old-1', settings);

    expect(await failureOf(handle)).toMatchObject({ details: [{ leftovers: ['pods are on their way'] }] });
    expect(await currentDetails(handle)).toContain('- Left: pods are on their way');
  });

  it('r151: has made one VM and no other when the replacement was lost in mid-drain', async () => {
    const fakes = worker.fakesOf('guarded');
    const node = await drains.node('guarded');
    await drains.pod('guarded-0', node.ref.node, { ownerKind: null });
    fakes.does.drain = () => drains.drain(node);
    const handle = await startReplacement(worker.workflows, worker.cluster, 'guarded', 'old-1');
    await fakes.called('drain', 2);
    await drains.cluster.send('DELETE', '/apis/karpenter.sh/v1/nodeclaims/guarded-new');

    expect(await failureOf(handle)).toMatchObject({
      type: 'Refused',
      message: 'drain: the replacement guarded-new is not Initialized',
    });
    expect(fakes.callsOf('createReplacement')).toHaveLength(1);
    expect(fakes.callsOf('release')).toHaveLength(1);
    expect(fakes.names).not.toContain('beginDeletion');
  });
});

describe('the kill switch, in mid-drain', () => {
  it('has the drain begin anew, with word of what it had done', async () => {
    const fakes = worker.fakesOf('paused');
    const node = await drains.node('paused');
    await drains.pod('paused-0', node.ref.node);
    fakes.does.drain = (_ref, _launch, paused) => drains.drain(node, paused);
    fakes.does.waitUntilResumed = () => drains.setPaused(false);
    const handle = await startReplacement(worker.workflows, worker.cluster, 'paused', 'old-1');
    await fakes.called('drain', 2);
    await drains.setPaused(true);
    await fakes.called('waitUntilResumed');
    await drains.end('paused-0');
    expect(await handle.result()).toMatchObject({ kind: 'replaced' });
    expect(fakes.callsOf('drain').at(0)?.args[2]).toBeNull();
    expect(fakes.callsOf('drain').at(-1)?.args[2]).toEqual({ evictionBegan: true });
  });
});

describe('the bound of a drain', () => {
  it.each([
    { nodePool: 'no-bound-of-its-own', terminationGracePeriodMs: undefined, seconds: 60 },
    { nodePool: 'day', terminationGracePeriodMs: 86_400_000, seconds: 86_400 + 300 },
    { nodePool: 'at-once', terminationGracePeriodMs: 0, seconds: 300 },
  ])('r042: is $seconds s with a terminationGracePeriod of $terminationGracePeriodMs ms', async (row) => {
    const { nodePool, terminationGracePeriodMs, seconds } = row;
    const fakes = worker.fakesOf(nodePool);
    fakes.does.reserve = async (ref) => {
      const reservation = await everythingGoesWell().reserve(ref);
      return reservation.kind === 'reserved' ? { ...reservation, terminationGracePeriodMs } : reservation;
    };
    const handle = await startReplacement(worker.workflows, worker.cluster, nodePool, 'old-1');
    await handle.result();
    const { events } = await handle.fetchHistory();
    const scheduled = (events ?? [])
      .map((event) => event.activityTaskScheduledEventAttributes)
      .find((attributes) => attributes?.activityType?.name === 'drain');
    expect(Number(scheduled?.scheduleToCloseTimeout?.seconds)).toBe(seconds);
  });
});
