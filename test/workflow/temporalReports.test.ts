import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CancelledFailure } from '@temporalio/common';
import type { PayloadCodec } from '@temporalio/common';
import type { temporal } from '@temporalio/proto';
import { setTimeout as delay } from 'node:timers/promises';

import { until } from '../../demo/until.js';
import { pokeSignal, statusQuery } from '../../workflows/messages.js';
import { everythingGoesWell, lookAgainIn } from '../support/fakeActivities.js';
import { Gate } from '../support/gate.js';
import { failureOf, startReplacement } from '../support/replacements.js';
import type { RolloutHandle } from '../support/rollouts.js';
import { rolloutOf, startRollout, startShortRollout, untilStatus } from '../support/rollouts.js';
import { ScriptedPool } from '../support/scriptedPool.js';
import type { TestWorker } from '../support/testWorker.js';
import { startTestWorker } from '../support/testWorker.js';

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

const brakedPool = 'braked';

/** Holds back the answer of the workflow task that starts a replacement of one pool: what comes for the workflow meanwhile has to wait. */
class ChildStartBrake implements PayloadCodec {
  readonly reached = new Gate();
  readonly released = new Gate();

  async encode(payloads: Parameters<PayloadCodec['encode']>[0]): ReturnType<PayloadCodec['encode']> {
    const texts = payloads.map(({ data }) => Buffer.from(data ?? []).toString('utf8'));
    if (texts.some((text) => text.includes(`"nodePool":"${brakedPool}"`) && text.includes('"round":0'))) {
      this.reached.open();
      await this.released.opened;
    }
    return payloads;
  }

  decode(payloads: Parameters<PayloadCodec['decode']>[0]): ReturnType<PayloadCodec['decode']> {
    return Promise.resolve(payloads);
  }
}

const brake = new ChildStartBrake();
let worker: TestWorker;
beforeAll(async () => {
  worker = await startTestWorker({ dataConverter: { payloadCodecs: [brake] } });
});
afterAll(async () => {
  await worker.stop();
});

async function historyOf(handle: Pick<RolloutHandle, 'fetchHistory'>): Promise<readonly HistoryEvent[]> {
  return (await handle.fetchHistory()).events ?? [];
}

describe('a rollout that is reset', () => {
  it('r196: learns of the child that ended while no run of it was there to be told', async () => {
    const nodePool = 'reset';
    const fakes = worker.fakesOf(nodePool);
    const pool = new ScriptedPool(worker, nodePool);
    pool.settings = { ...pool.settings, lookAgainMs: 200 };
    pool.budget = 1;
    pool.drift('old-1');
    const drained = new Gate();
    fakes.does.drain = () => drained.opened;
    const rollout = await startRollout(worker, nodePool);
    await fakes.called('drain');
    const events = await historyOf(rollout);
    const childStarted = events.findIndex((event) => event.childWorkflowExecutionStartedEventAttributes);
    const resetPoint = events.slice(childStarted).find((event) => event.workflowTaskCompletedEventAttributes);
    const { runId } = await rollout.describe();
    await rollout.terminate();
    drained.open();
    await until('the end of the child', 30_000, () =>
      Promise.resolve(fakes.callsOf('followDeletion').length > 0 ? true : undefined),
    );

    pool.drift('old-2');
    await worker.workflows.workflowService.resetWorkflowExecution({
      namespace: worker.workflows.options.namespace,
      workflowExecution: { workflowId: rollout.workflowId, runId },
      workflowTaskFinishEventId: resetPoint?.eventId ?? null,
      requestId: 'reset-once',
    });
    const again = rolloutOf(worker, nodePool);
    const { replaced } = await untilStatus(again, 'both are replaced', (status) => status.replaced.length === 2);
    expect(replaced.map(({ nodeClaim }) => nodeClaim)).toEqual(['old-1', 'old-2']);
    expect(await again.query(statusQuery)).toMatchObject({ inFlight: [], failures: [] });
    expect(fakes.callsOf('createReplacement')).toHaveLength(2);
    await again.terminate();
  });
});

describe('a rollout that is canceled', () => {
  it('r192: ends as canceled and starts nobody else, though a child was just being started', async () => {
    const pool = new ScriptedPool(worker, brakedPool);
    pool.budget = 1;
    pool.drift('old-1', 'old-2');
    const rollout = await startRollout(worker, brakedPool);
    await brake.reached.opened;
    await rollout.cancel();
    brake.released.open();

    expect(await failureOf(rollout)).toBeInstanceOf(CancelledFailure);
    const events = await historyOf(rollout);
    const at = (isIt: (event: HistoryEvent) => unknown): number => events.findIndex((event) => isIt(event));
    const initiated = at((event) => event.startChildWorkflowExecutionInitiatedEventAttributes);
    const canceled = at((event) => event.workflowExecutionCancelRequestedEventAttributes);
    const started = at((event) => event.childWorkflowExecutionStartedEventAttributes);
    expect(initiated).toBeGreaterThan(0);
    expect(canceled).toBeGreaterThan(initiated);
    expect(started).toBeGreaterThan(canceled);
    const reserved = worker.fakesOf(brakedPool).callsOf('reserve');
    expect(reserved.map(({ args }) => args[0].nodeClaim)).toEqual(['old-1']);
  });
});

describe('a rollout that continues as new', () => {
  it('r194: does so when the children that it starts have started', async () => {
    const nodePool = 'hurried';
    const fakes = worker.fakesOf(nodePool);
    const pool = new ScriptedPool(worker, nodePool);
    pool.settings = { ...pool.settings, childCheckMs: 100 };
    pool.drift('old-1', 'old-2', 'old-3');
    const drained = new Gate();
    fakes.does.drain = () => drained.opened;
    // Its first look at the pool is all that fits.
    const rollout = await startShortRollout(worker, nodePool, 9);
    const { runId } = await rollout.describe();
    await fakes.called('drain', 3);

    const events = await historyOf(worker.workflows.getHandle(rollout.workflowId, runId));
    const startsOf = (isIt: (event: HistoryEvent) => unknown): number => events.filter((event) => isIt(event)).length;
    expect(startsOf((event) => event.startChildWorkflowExecutionInitiatedEventAttributes)).toBe(3);
    expect(startsOf((event) => event.childWorkflowExecutionStartedEventAttributes)).toBe(3);
    expect(events.at(-1)?.workflowExecutionContinuedAsNewEventAttributes).toBeDefined();
    drained.open();
    await untilStatus(rollout, 'all are replaced', ({ replaced }) => replaced.length === 3);
    await rollout.terminate();
  });

  it('r197: gets to do so under a steady flow of pokes, and none is lost', async () => {
    const nodePool = 'flooded';
    const pool = new ScriptedPool(worker, nodePool);
    pool.settings = { ...pool.settings, childCheckMs: 100 };
    const rollout = await startShortRollout(worker, nodePool, 40);
    const runs = new Set<string>();
    const names = Array.from({ length: 25 }, (_, index) => `old-${index}`);
    for (const name of names) {
      pool.drift(name);
      await rollout.signal(pokeSignal);
      runs.add((await rollout.describe()).runId);
      await delay(100);
    }
    const { replaced } = await untilStatus(
      rollout,
      'all are replaced',
      (status) => status.replaced.length === names.length,
    );
    expect(replaced.map(({ nodeClaim }) => nodeClaim).sort()).toEqual([...names].sort());
    expect(runs.size).toBeGreaterThan(3);
    await rollout.terminate();
  });
});

/** Scheduled, started, ended: as many as an activity can have in any case. */
function eventsOfDrain(events: readonly HistoryEvent[]): number {
  const scheduled = events.find((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'drain');
  const id = String(scheduled?.eventId);
  return events.filter(
    ({ eventId, activityTaskStartedEventAttributes: started, activityTaskCompletedEventAttributes: completed }) =>
      String(eventId) === id || String(started?.scheduledEventId) === id || String(completed?.scheduledEventId) === id,
  ).length;
}

describe('a drain that takes long', () => {
  it('r198: writes as much history as one that ends at once', async () => {
    const nodePool = 'long';
    const fakes = worker.fakesOf(nodePool);
    const historyAfter = async (nodeClaim: string, looks: number): Promise<readonly HistoryEvent[]> => {
      let left = looks;
      fakes.does.drain = (ref, launch, paused) => {
        left -= 1;
        return left > 0 ? lookAgainIn(1) : everythingGoesWell().drain(ref, launch, paused);
      };
      const handle = await startReplacement(worker.workflows, worker.cluster, nodePool, nodeClaim);
      expect(await handle.result()).toMatchObject({ kind: 'replaced' });
      return await historyOf(handle);
    };
    const short = await historyAfter('old-1', 1);
    const long = await historyAfter('old-2', 20);
    expect(eventsOfDrain(short)).toBe(3);
    expect(eventsOfDrain(long)).toBe(3);
    // How many events a workflow task takes in is chance; twenty attempts that wrote something would be sixty events.
    expect(long.length - short.length).toBeLessThan(20);
    expect(fakes.callsOf('drain')).toHaveLength(21);
    expect(short.length).toBeLessThan(80);
  });
});
