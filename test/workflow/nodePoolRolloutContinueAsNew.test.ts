import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { replaceNodeWorkflowId } from '../../workflows/ids.js';
import { searchAttributes } from '../../workflows/searchAttributes.js';
import { failLaunch } from '../support/fakeActivities.js';
import { Gate } from '../support/gate.js';
import { uidOf } from '../support/replacements.js';
import { startShortRollout, untilStatus } from '../support/rollouts.js';
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

describe('nodePoolRollout, when it continues as new', () => {
  it('loses and doubles none of its children', async () => {
    const fakes = worker.fakesOf('continued');
    const pool = new ScriptedPool(worker, 'continued');
    pool.settings = { ...pool.settings, childCheckMs: 150, quietMs: 20, backoffMs: 1 };
    pool.drift('ends-well', 'fails', 'canceled', 'terminated');
    const drained = new Gate();
    fakes.does.drain = async ({ nodeClaim }, launch) => {
      await drained.opened;
      if (nodeClaim === 'fails' && launch?.nodeClaim === 'fails-r0-0')
        await failLaunch({ nodeClaim, code: 'NoRoom', message: 'full', anotherOffering: false });
    };
    const rollout = await startShortRollout(worker, 'continued', 15);
    const { runId } = await rollout.describe();
    await fakes.called('drain', 4);
    const { input } = await pool.observed(4);
    expect([...input.describe].map(({ nodeClaim }) => nodeClaim).sort()).toEqual([
      'canceled',
      'ends-well',
      'fails',
      'terminated',
    ]);
    expect(input.discover).toBe(false);
    const firstRun = worker.workflows.getHandle(rollout.workflowId, runId);
    expect((await firstRun.describe()).status.name).toBe('CONTINUED_AS_NEW');
    expect(fakes.callsOf('reserve')).toHaveLength(4);

    await childOf('terminated').terminate();
    await childOf('canceled').cancel();
    drained.open();
    const { failures } = await untilStatus(
      rollout,
      'the ends of all four have been noticed',
      (status) =>
        status.replaced.length === 2 && status.failures.length === 2 && status.failures.every(({ held }) => held),
    );
    expect([...failures].sort((a, b) => a.nodeClaim.localeCompare(b.nodeClaim))).toMatchObject([
      { nodeClaim: 'canceled', code: 'Canceled', held: true },
      { nodeClaim: 'terminated', code: 'Terminated', held: true },
    ]);
    // One try each, and the second round of the one that failed.
    expect(
      fakes
        .callsOf('reserve')
        .map(({ args }) => args[0].nodeClaim)
        .sort(),
    ).toEqual(['canceled', 'ends-well', 'fails', 'fails', 'terminated']);
    expect(fakes.callsOf('createReplacement').find(({ args }) => args[1].round === 1)?.args[0].nodeClaim).toBe('fails');
    const { typedSearchAttributes } = await rollout.describe();
    expect(typedSearchAttributes.get(searchAttributes.nodePool)).toBe('continued');
    await rollout.terminate();
  });
});
