import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { retryUpdate, skipUpdate, statusQuery } from '../../workflows/messages.js';
import { everythingGoesWell } from '../support/fakeActivities.js';
import { Gate } from '../support/gate.js';
import { uidOf, untilDetails } from '../support/replacements.js';
import { lookAgain, refusalOf, rolloutOf, startRollout, steer, untilStatus } from '../support/rollouts.js';
import { ScriptedPool } from '../support/scriptedPool.js';
import type { TestWorker } from '../support/testWorker.js';
import { startTestWorker } from '../support/testWorker.js';

const ana = { by: 'ana', why: 'a batch runs' };

let worker: TestWorker;
beforeAll(async () => {
  worker = await startTestWorker();
});
afterAll(async () => {
  await worker.stop();
});

/** An instant so many milliseconds from now. */
function soon(ms: number): string {
  return new Date(Date.now() + ms).toISOString();
}

const inAnHour = soon(3_600_000);

describe('a skipped NodeClaim', () => {
  it('is started after its time, not before; the others go on', async () => {
    const fakes = worker.fakesOf('skip');
    const pool = new ScriptedPool(worker, 'skip');
    pool.settings = { ...pool.settings, quietMs: 20 };
    pool.drift('skipped', 'other-1', 'other-2');
    const until = soon(2_000);
    expect(await steer(worker, 'skip', skipUpdate, { ...ana, nodeClaim: 'skipped', until })).toEqual({
      ...ana,
      nodeClaim: 'skipped',
      uid: uidOf('skipped'),
      until,
    });
    const rollout = rolloutOf(worker, 'skip');
    await untilDetails(rollout, `| skipped | Skipped | until ${until}, by ana: a batch runs |`);
    await untilStatus(rollout, 'the others are replaced', ({ replaced }) => replaced.length === 2);

    const { replaced, interventions } = await rollout.result();
    expect(replaced.map(({ nodeClaim }) => nodeClaim).sort()).toEqual(['other-1', 'other-2', 'skipped']);
    expect(interventions).toMatchObject([{ ...ana, what: 'skip', nodeClaim: 'skipped' }]);
    const starts = fakes.callsOf('reserve').map(({ args, atMs }) => ({ name: args[0].nodeClaim, atMs }));
    const start = starts.find(({ name }) => name === 'skipped');
    expect(start?.atMs).toBeGreaterThanOrEqual(Date.parse(until));
    expect(starts).toHaveLength(3);
  });

  it('does not start while it is being looked up, and the rollout does not spin meanwhile', async () => {
    const fakes = worker.fakesOf('skip-starts');
    const pool = new ScriptedPool(worker, 'skip-starts');
    pool.settings = { ...pool.settings, quietMs: 1 };
    pool.drift('old-1');
    const found = new Gate();
    fakes.does.findNodeClaim = async ({ nodeClaim }) => {
      await found.opened;
      return { nodeClaim, uid: uidOf(nodeClaim) };
    };
    const skipped = steer(worker, 'skip-starts', skipUpdate, { ...ana, nodeClaim: 'old-1', until: inAnHour });
    await fakes.called('findNodeClaim');
    const rollout = rolloutOf(worker, 'skip-starts');
    const { observation } = await lookAgain(rollout, pool);
    expect(observation.admission.start).toHaveLength(1);
    pool.settle('old-1');
    await lookAgain(rollout, pool);
    // The pool is quiet now, for longer than its settings ask for: another one like it begins and ends meanwhile.
    const looks = pool.looks.length;
    Object.assign(new ScriptedPool(worker, 'quiet').settings, { quietMs: 1 });
    await (await startRollout(worker, 'quiet')).result();
    expect(pool.looks.length).toBeLessThanOrEqual(looks + 1);
    pool.drift('old-1');
    found.open();
    expect(await skipped).toMatchObject({ nodeClaim: 'old-1', until: inAnHour });
    await lookAgain(rollout, pool);
    expect(await rollout.query(statusQuery)).toMatchObject({ inFlight: [], skipped: [{ nodeClaim: 'old-1' }] });
    expect(fakes.callsOf('reserve')).toEqual([]);
    await rollout.terminate();
  });

  it('stays skipped when nothing asks for its replacement just then, until it is gone', async () => {
    const pool = new ScriptedPool(worker, 'at-peace');
    pool.settings = { ...pool.settings, quietMs: 20 };
    pool.settleIn('old-2');
    await steer(worker, 'at-peace', skipUpdate, { ...ana, nodeClaim: 'old-2', until: inAnHour });
    const rollout = rolloutOf(worker, 'at-peace');
    await lookAgain(rollout, pool);
    pool.drift('old-2');
    const { input } = await lookAgain(rollout, pool);
    expect(input.held).toEqual([uidOf('old-2')]);
    expect((await lookAgain(rollout, pool)).input.inFlight).toEqual([]);
    pool.settle('old-2');
    await lookAgain(rollout, pool);
    expect(await rollout.result()).toMatchObject({ replaced: [] });
  });

  it.each(['by its name', 'with all'])('is started by a retry, %s', async (which) => {
    const nodePool = `retry ${which}`;
    const pool = new ScriptedPool(worker, nodePool);
    pool.settings = { ...pool.settings, quietMs: 20 };
    pool.drift('old-3');
    await steer(worker, nodePool, skipUpdate, { ...ana, nodeClaim: 'old-3', until: inAnHour });
    const request = which === 'with all' ? {} : { nodeClaim: 'old-3', by: 'ben', why: 'the batch has ended' };
    expect(await steer(worker, nodePool, retryUpdate, request)).toEqual({ retried: ['old-3'] });
    expect(await rolloutOf(worker, nodePool).result()).toMatchObject({
      replaced: [{ nodeClaim: 'old-3' }],
      interventions: [{ what: 'skip' }, { what: 'retry', by: which === 'with all' ? 'unknown' : 'ben' }],
    });
  });
});

describe('skip', () => {
  it('is refused while the NodeClaim is being replaced', async () => {
    const fakes = worker.fakesOf('in-flight');
    const pool = new ScriptedPool(worker, 'in-flight');
    pool.drift('old-4');
    const reserved = new Gate();
    fakes.does.reserve = async (ref) => {
      await reserved.opened;
      return await everythingGoesWell().reserve(ref);
    };
    const rollout = await startRollout(worker, 'in-flight');
    await fakes.called('reserve');
    const skip = rollout.executeUpdate(skipUpdate, { args: [{ ...ana, nodeClaim: 'old-4', until: inAnHour }] });
    expect(await refusalOf(skip)).toMatchObject({
      type: 'InvalidRequest',
      message: 'NodeClaim old-4 is being replaced: cancel its replacement instead',
    });
    expect(await rollout.query(statusQuery)).toMatchObject({ skipped: [], interventions: [] });
    expect(fakes.callsOf('findNodeClaim')).toEqual([]);
    reserved.open();
    await rollout.terminate();
  });

  it('is refused for a name that the pool does not have', async () => {
    const pool = new ScriptedPool(worker, 'unknown-name');
    pool.settings = { ...pool.settings, quietMs: 20 };
    const skip = steer(worker, 'unknown-name', skipUpdate, { ...ana, nodeClaim: 'nobody', until: inAnHour });
    expect(await refusalOf(skip)).toMatchObject({ type: 'UnknownNodeClaim', message: 'no NodeClaim nobody' });
    expect(await rolloutOf(worker, 'unknown-name').result()).toMatchObject({ interventions: [] });
  });
});
