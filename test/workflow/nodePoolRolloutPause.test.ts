import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { until } from '../../demo/until.js';
import { pauseUpdate, pokeSignal, resumeUpdate, statusQuery } from '../../workflows/messages.js';
import { Gate } from '../support/gate.js';
import { untilDetails } from '../support/replacements.js';
import type { RolloutHandle } from '../support/rollouts.js';
import {
  lookAgain,
  refusalOf,
  rolloutOf,
  startRollout,
  startShortRollout,
  steer,
  untilStatus,
} from '../support/rollouts.js';
import { ScriptedPool } from '../support/scriptedPool.js';
import type { TestWorker } from '../support/testWorker.js';
import { startTestWorker } from '../support/testWorker.js';

const ana = { by: 'ana', why: 'an incident' };
const ben = { by: 'ben', why: 'it is over' };

let worker: TestWorker;
beforeAll(async () => {
  worker = await startTestWorker();
});
afterAll(async () => {
  await worker.stop();
});

async function isRunning(rollout: RolloutHandle): Promise<boolean> {
  return (await rollout.describe()).status.name === 'RUNNING';
}

describe('a paused rollout', () => {
  it('lets what runs go on to its end, starts nothing, and goes on when it is resumed', async () => {
    const fakes = worker.fakesOf('pause');
    const pool = new ScriptedPool(worker, 'pause');
    pool.settings = { ...pool.settings, quietMs: 20 };
    pool.budget = 2;
    pool.drift('old-1', 'old-2', 'old-3', 'old-4');
    const drained = new Gate();
    fakes.does.drain = () => drained.opened;
    const rollout = await startRollout(worker, 'pause');
    await fakes.called('drain', 2);
    const paused = await steer(worker, 'pause', pauseUpdate, ana);
    expect(paused).toEqual({ ...ana, since: expect.stringMatching(/^\d{4}-.*Z$/) });
    drained.open();

    const status = await untilStatus(rollout, 'both are replaced', ({ replaced }) => replaced.length === 2);
    expect(status).toMatchObject({ paused, interventions: [{ ...ana, what: 'pause', nodeClaim: null }] });
    // The pool would let the next ones start, and they do not: they would be in flight at the look after.
    const { observation } = await lookAgain(rollout, pool);
    expect(observation.admission.start).toHaveLength(2);
    expect((await lookAgain(rollout, pool)).input.inFlight).toEqual([]);
    expect(fakes.callsOf('reserve')).toHaveLength(2);
    const details = await untilDetails(rollout, `**Paused** by ana since ${paused.since}: an incident.`);
    expect(details).toContain('| old-3 | Waits for a permit | ImageDrift |');
    expect(details).toContain(`- ${paused.since} pause by ana: an incident`);

    await steer(worker, 'pause', resumeUpdate, ben);
    const result = await rollout.result();
    expect(result.replaced).toHaveLength(4);
    expect(result.interventions).toMatchObject([
      { ...ana, what: 'pause' },
      { ...ben, what: 'resume' },
    ]);
  });

  it('stays paused by who paused it first', async () => {
    const pool = new ScriptedPool(worker, 'twice');
    pool.settings = { ...pool.settings, quietMs: 20 };
    const first = await steer(worker, 'twice', pauseUpdate, ana);
    expect(await steer(worker, 'twice', pauseUpdate, ben)).toEqual(first);
    await steer(worker, 'twice', resumeUpdate, ben);
    expect((await rolloutOf(worker, 'twice').result()).interventions.map(({ what }) => what)).toEqual([
      'pause',
      'resume',
    ]);
  });

  it('starts nobody, also where the pause is what has started the rollout', async () => {
    const fakes = worker.fakesOf('pause-starts');
    const pool = new ScriptedPool(worker, 'pause-starts');
    pool.drift('old-5');
    await steer(worker, 'pause-starts', pauseUpdate, ana);
    const rollout = rolloutOf(worker, 'pause-starts');
    await lookAgain(rollout, pool);
    expect((await lookAgain(rollout, pool)).input.inFlight).toEqual([]);
    expect(fakes.callsOf('reserve')).toEqual([]);
    await rollout.terminate();
  });

  it('does not end by being quiet', async () => {
    for (const nodePool of ['quiet-paused', 'quiet']) {
      const { settings } = new ScriptedPool(worker, nodePool);
      Object.assign(settings, { quietMs: 20 });
    }
    await steer(worker, 'quiet-paused', pauseUpdate, ana);
    // One like it, but for the pause, that began later.
    await (await startRollout(worker, 'quiet')).result();

    const rollout = rolloutOf(worker, 'quiet-paused');
    expect(await isRunning(rollout)).toBe(true);
    await untilDetails(rollout, '**Paused** by ana');
    await steer(worker, 'quiet-paused', resumeUpdate, ben);
    expect(await rollout.result()).toMatchObject({ replaced: [] });
  });

  it('is paused after a continue-as-new as well, with who and why', async () => {
    const fakes = worker.fakesOf('continued-paused');
    const pool = new ScriptedPool(worker, 'continued-paused');
    // Another continue-as-new may come while the replacement is under way: its end is then looked up.
    pool.settings = { ...pool.settings, quietMs: 20, childCheckMs: 100 };
    const rollout = await startShortRollout(worker, 'continued-paused', 25);
    const { runId } = await rollout.describe();
    const paused = await rollout.executeUpdate(pauseUpdate, { args: [ana] });
    pool.drift('old-6');
    await until('another run', 30_000, async () => {
      await lookAgain(rollout, pool);
      return (await rollout.describe()).runId === runId ? undefined : true;
    });

    await untilDetails(rollout, '**Paused** by ana');
    expect(await rollout.query(statusQuery)).toMatchObject({
      paused,
      interventions: [{ ...ana, what: 'pause' }],
      inFlight: [],
    });
    expect(fakes.callsOf('reserve')).toEqual([]);
    await rollout.executeUpdate(resumeUpdate, { args: [ben] });
    expect(await rollout.result()).toMatchObject({
      replaced: [{ nodeClaim: 'old-6' }],
      interventions: [{ what: 'pause' }, { what: 'resume' }],
    });
  });
});

describe('resume', () => {
  it('is refused where nothing is paused, without a trace', async () => {
    const pool = new ScriptedPool(worker, 'not-paused');
    pool.settings = { ...pool.settings, quietMs: 20 };
    expect(await refusalOf(steer(worker, 'not-paused', resumeUpdate, ben))).toMatchObject({
      type: 'InvalidRequest',
      message: 'the rollout of NodePool not-paused is not paused',
    });
    const rollout = rolloutOf(worker, 'not-paused');
    await rollout.signal(pokeSignal).catch(() => undefined);
    expect(await rollout.result()).toMatchObject({ interventions: [] });
  });
});
