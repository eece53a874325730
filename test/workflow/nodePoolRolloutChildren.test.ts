import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CancelledFailure, WorkflowExecutionAlreadyStartedError } from '@temporalio/common';

import { replaceNodeWorkflowId } from '../../workflows/ids.js';
import { pokeSignal, statusQuery } from '../../workflows/messages.js';
import { Gate } from '../support/gate.js';
import { failureOf, startReplacement, uidOf } from '../support/replacements.js';
import { startRollout } from '../support/rollouts.js';
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

function childOf(nodeClaim: string) {
  return worker.workflows.getHandle(replaceNodeWorkflowId(worker.cluster, nodeClaim, uidOf(nodeClaim)));
}

describe('nodePoolRollout and children that it cannot await', () => {
  it('r187: adopts a child that runs already, looks it up at each wake, and learns of its end', async () => {
    const fakes = worker.fakesOf('adopt');
    const pool = new ScriptedPool(worker, 'adopt');
    pool.settings = { ...pool.settings, childCheckMs: 50, quietMs: 20 };
    pool.gate = new Gate();
    const deleted = new Gate();
    fakes.does.drain = () => deleted.opened;
    const rollout = await startRollout(worker, 'adopt');
    // After its first look a rollout does not search for children any more: it meets this one when it starts it.
    await pool.observed(1);
    const child = await startReplacement(worker.workflows, worker.cluster, 'adopt', 'old-1');
    await fakes.called('drain');
    pool.drift('old-1');
    await rollout.signal(pokeSignal);
    pool.gate.open();

    await pool.observed(5);
    const [, second, ...later] = pool.looks;
    expect(second?.input).toMatchObject({ describe: [], discover: false });
    expect(second?.observation.admission.start).toHaveLength(1);
    expect(later.map(({ input }) => input.describe.map(({ nodeClaim }) => nodeClaim))).toEqual(
      later.map(() => ['old-1']),
    );
    expect(fakes.callsOf('reserve')).toHaveLength(1);
    deleted.open();
    expect(await child.result()).toMatchObject({ kind: 'replaced' });
    expect(await rollout.result()).toMatchObject({ replaced: [{ nodeClaim: 'old-1', replacement: 'old-1-r0-0' }] });
  });

  it('r120: is one of two that start the same replacement at the same instant: there is one VM', async () => {
    const nodePool = 'twice';
    const fakes = worker.fakesOf(nodePool);
    const pool = new ScriptedPool(worker, nodePool);
    pool.settings = { ...pool.settings, childCheckMs: 50, quietMs: 20 };
    pool.gate = new Gate();
    pool.drift('old-1');
    const drained = new Gate();
    fakes.does.drain = () => drained.opened;
    const rollout = await startRollout(worker, nodePool);
    await pool.observed(1);
    const start = () => startReplacement(worker.workflows, worker.cluster, nodePool, 'old-1');
    pool.gate.open();
    const starts = await Promise.allSettled([start(), start(), startRollout(worker, nodePool)]);

    await fakes.called('drain');
    const refusals = starts.filter((one) => one.status === 'rejected');
    expect(refusals.length).toBeGreaterThanOrEqual(1);
    for (const { reason } of refusals) expect(reason).toBeInstanceOf(WorkflowExecutionAlreadyStartedError);
    drained.open();
    expect(await rollout.result()).toMatchObject({ replaced: [{ nodeClaim: 'old-1' }], failures: [] });
    expect(fakes.callsOf('reserve')).toHaveLength(1);
    expect(fakes.callsOf('createReplacement')).toHaveLength(1);
  });

  it('finds the children of a rollout that was there before it, and counts them', async () => {
    const fakes = worker.fakesOf('discover');
    const pool = new ScriptedPool(worker, 'discover');
    pool.settings = { ...pool.settings, childCheckMs: 50, quietMs: 20 };
    pool.budget = 1;
    pool.drift('old-2', 'old-3');
    const drained = new Gate();
    fakes.does.drain = () => drained.opened;
    const before = await startRollout(worker, 'discover');
    await fakes.called('drain');
    await before.terminate();
    pool.taint('old-2');
    const looksBefore = pool.looks.length;
    const after = await startRollout(worker, 'discover');

    await pool.observed(looksBefore + 3);
    const [first, second] = pool.looks.slice(looksBefore);
    expect(first?.input).toMatchObject({ inFlight: [], discover: true });
    // That look would have let one start, beyond the budget of one.
    expect(first?.observation.admission.start.map(({ nodeClaim }) => nodeClaim)).toEqual(['old-3']);
    expect(second?.input.inFlight).toEqual(['old-2']);
    expect(second?.observation.admission.start).toEqual([]);
    expect(fakes.callsOf('reserve')).toHaveLength(1);
    drained.open();
    const { replaced } = await after.result();
    expect(replaced.map(({ nodeClaim }) => nodeClaim)).toEqual(['old-2', 'old-3']);
    expect(fakes.callsOf('reserve')).toHaveLength(2);
  });

  it('admits nobody any more when it is canceled, and waits for its children', async () => {
    const fakes = worker.fakesOf('parent-canceled');
    const pool = new ScriptedPool(worker, 'parent-canceled');
    pool.budget = 2;
    pool.drift('left-1', 'left-2', 'never');
    const drained = new Gate();
    fakes.does.drain = () => drained.opened;
    const rollout = await startRollout(worker, 'parent-canceled');
    await fakes.called('drain', 2);
    await rollout.cancel();

    // The cancellation has been seen, and a permit more would be free by now.
    pool.budget = 3;
    const looks = pool.looks.length;
    await rollout.signal(pokeSignal);
    await pool.observed(looks + 1);
    expect(await rollout.query(statusQuery)).toMatchObject({ inFlight: ['left-1', 'left-2'] });
    drained.open();
    expect(await failureOf(rollout)).toBeInstanceOf(CancelledFailure);
    expect(await childOf('left-1').result()).toMatchObject({ kind: 'replaced' });
    expect(await childOf('left-2').result()).toMatchObject({ kind: 'replaced' });
    expect(fakes.callsOf('reserve')).toHaveLength(2);
    const { events } = await rollout.fetchHistory();
    const cancellations = (events ?? []).filter(
      (event) => event.requestCancelExternalWorkflowExecutionInitiatedEventAttributes,
    );
    expect(cancellations).toEqual([]);
  });
});
