import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { replaceNodeWorkflowId } from '../../workflows/ids.js';
import { pokeSignal, statusQuery } from '../../workflows/messages.js';
import { searchAttributes } from '../../workflows/searchAttributes.js';
import { everythingGoesWell } from '../support/fakeActivities.js';
import { Gate } from '../support/gate.js';
import { uidOf, untilDetails } from '../support/replacements.js';
import { startRollout, untilStatus } from '../support/rollouts.js';
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

describe('nodePoolRollout', () => {
  it('r014: starts exactly those that may start, all in the same pass', async () => {
    const fakes = worker.fakesOf('one-pass');
    const pool = new ScriptedPool(worker, 'one-pass');
    pool.budget = 3;
    pool.drift('old-1', 'old-2', 'old-3', 'old-4', 'old-5');
    const reserved = new Gate();
    fakes.does.reserve = async ({ nodeClaim }) => {
      await reserved.opened;
      pool.settle(nodeClaim);
      return { kind: 'notNeeded', why: 'it is no longer Drifted' };
    };
    const rollout = await startRollout(worker, 'one-pass');
    await fakes.called('reserve', 3);
    // A second look has to leave things as they are: no permit is free.
    await rollout.signal(pokeSignal);
    const { input } = await pool.observed(2);

    expect(input.inFlight).toEqual(['old-1', 'old-2', 'old-3']);
    const { events } = await rollout.fetchHistory();
    const begun = (events ?? []).flatMap((event) => event.startChildWorkflowExecutionInitiatedEventAttributes ?? []);
    expect(begun.map(({ workflowId }) => workflowId)).toEqual(
      ['old-1', 'old-2', 'old-3'].map((name) => replaceNodeWorkflowId(worker.cluster, name, uidOf(name))),
    );
    expect(new Set(begun.map(({ workflowTaskCompletedEventId }) => String(workflowTaskCompletedEventId))).size).toBe(1);
    expect(fakes.callsOf('reserve')).toHaveLength(3);
    reserved.open();
    await untilStatus(rollout, 'the end of all five', ({ notNeeded }) => notNeeded.length === 5);
    expect(fakes.callsOf('reserve')).toHaveLength(5);
    await rollout.terminate();
  });

  it('ends when the pool has been quiet, with a result that names every node', async () => {
    const fakes = worker.fakesOf('result');
    const pool = new ScriptedPool(worker, 'result');
    pool.settings = { ...pool.settings, quietMs: 20 };
    pool.drift('old-1', 'old-2', 'old-3');
    fakes.does.reserve = async (ref) => {
      if (ref.nodeClaim !== 'old-2') return await everythingGoesWell().reserve(ref);
      pool.settle('old-2');
      return { kind: 'notNeeded', why: 'it is no longer Drifted' };
    };
    const rollout = await startRollout(worker, 'result');

    const result = await rollout.result();
    const drifted = { reason: 'Drifted', reasonDetail: 'ImageDrift' };
    expect(result).toMatchObject({ nodePool: 'result', failures: [] });
    expect(result.notNeeded).toEqual([{ nodeClaim: 'old-2', why: 'it is no longer Drifted' }]);
    expect([...result.replaced].sort((a, b) => a.nodeClaim.localeCompare(b.nodeClaim))).toEqual([
      { ...drifted, nodeClaim: 'old-1', replacement: 'old-1-r0-0', launchFailures: [] },
      { ...drifted, nodeClaim: 'old-3', replacement: 'old-3-r0-0', launchFailures: [] },
    ]);
    expect(fakes.callsOf('reserve')).toHaveLength(3);
  });

  it('looks twice at a pool that asks for nothing: at its start and before its end', async () => {
    const pool = new ScriptedPool(worker, 'nothing');
    pool.settings = { ...pool.settings, quietMs: 20 };
    const rollout = await startRollout(worker, 'nothing');

    expect(await rollout.result()).toEqual({
      nodePool: 'nothing',
      replaced: [],
      notNeeded: [],
      failures: [],
      interventions: [],
    });
    expect(pool.looks.map(({ input }) => input.discover)).toEqual([true, false]);
  });

  it('looks again, once, when it was poked twice during a look', async () => {
    const pool = new ScriptedPool(worker, 'pokes');
    pool.settings = { ...pool.settings, quietMs: 20 };
    pool.gate = new Gate();
    const rollout = await startRollout(worker, 'pokes');
    await pool.observed(1);
    await rollout.signal(pokeSignal);
    await rollout.signal(pokeSignal);
    pool.gate.open();

    await rollout.result();
    // One more than without pokes.
    expect(pool.looks).toHaveLength(3);
  });

  it('finds by a poke what has come up since the last look', async () => {
    const fakes = worker.fakesOf('later');
    const pool = new ScriptedPool(worker, 'later');
    const rollout = await startRollout(worker, 'later');
    await untilStatus(rollout, 'the first look is done', ({ admission }) => admission !== null);
    pool.drift('old-1');
    await rollout.signal(pokeSignal);

    const { args } = await fakes.called('reserve');
    expect(args[0].nodeClaim).toBe('old-1');
    await untilStatus(rollout, 'it is replaced', ({ replaced }) => replaced.length === 1);
    await rollout.terminate();
  });

  it('r047: gives each child its names, the reason with its detail, its settings and what the UI shows of it', async () => {
    const fakes = worker.fakesOf('children');
    const pool = new ScriptedPool(worker, 'children');
    pool.drift('shown-1');
    const reserved = new Gate();
    fakes.does.reserve = async () => {
      await reserved.opened;
      return { kind: 'notNeeded', why: 'the test is over' };
    };
    const rollout = await startRollout(worker, 'children');
    await fakes.called('reserve');

    const child = worker.workflows.getHandle(replaceNodeWorkflowId(worker.cluster, 'shown-1', uidOf('shown-1')));
    const description = await child.describe();
    const attributes = description.typedSearchAttributes;
    expect(attributes.get(searchAttributes.cluster)).toBe(worker.cluster);
    expect(attributes.get(searchAttributes.nodePool)).toBe('children');
    expect(attributes.get(searchAttributes.nodeClaim)).toBe('shown-1');
    expect(attributes.get(searchAttributes.disruptionReason)).toBe('Drifted');
    expect(attributes.get(searchAttributes.phase)).toBe('Reserve');
    expect(attributes.get(searchAttributes.errorCode)).toBeUndefined();
    expect(await description.staticSummary()).toBe('Replace shown-1 (Drifted: ImageDrift)');
    expect(await description.staticDetails()).toContain('NodeClaim `shown-1` (Node `node-shown-1`)');
    reserved.open();
    await untilStatus(rollout, 'it was not needed', ({ notNeeded }) => notNeeded.length === 1);
    await rollout.terminate();
  });

  it('starts a replacement whatever a person has said of its reason, and keeps that in the result', async () => {
    const pool = new ScriptedPool(worker, 'by-hand');
    pool.settings = { ...pool.settings, quietMs: 20 };
    // More than Temporal takes for a summary, in characters of more than a byte.
    const text = 'größer '.repeat(70).trim();
    pool.disrupt('old-8', 'Manual', text);
    const rollout = await startRollout(worker, 'by-hand');

    const reason = { reason: 'Manual', reasonDetail: text };
    expect(await rollout.result()).toMatchObject({ replaced: [{ nodeClaim: 'old-8', ...reason }] });
    const child = worker.workflows.getHandle(replaceNodeWorkflowId(worker.cluster, 'old-8', uidOf('old-8')));
    expect(await child.result()).toMatchObject(reason);
    const description = await child.describe();
    expect(await description.staticSummary()).toMatch(/^Replace old-8 \(Manual: größer größer .*…$/);
  });

  it('shows in status and current details who is in flight and who waits', async () => {
    const fakes = worker.fakesOf('details');
    const pool = new ScriptedPool(worker, 'details');
    pool.budget = 1;
    pool.drift('old-6', 'old-7');
    const drained = new Gate();
    fakes.does.drain = () => drained.opened;
    const rollout = await startRollout(worker, 'details');
    await fakes.called('drain');

    const status = await rollout.query(statusQuery);
    expect(status).toMatchObject({ inFlight: ['old-6'], replaced: [], halted: null, backoffUntil: null });
    expect(status.admission?.waiting.first.map(({ nodeClaim }) => nodeClaim)).toEqual(['old-7']);
    const details = await untilDetails(rollout, '**Replacing nodes**.');
    expect(details).toContain('budget Drifted 1');
    expect(details).toMatch(/\| old-6 \| Reserve \|/);
    expect(details).toContain('| old-7 | Waits for a permit | ImageDrift |');
    const { typedSearchAttributes, staticSummary } = await rollout.describe();
    expect(typedSearchAttributes.get(searchAttributes.nodePool)).toBe('details');
    expect(await staticSummary()).toBe('Rollout of NodePool details');
    drained.open();
    await untilDetails(rollout, '| old-7 | Replaced | old-7-r0-0 |');
    await rollout.terminate();
  });
});
