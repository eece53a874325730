import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';

import { resetStuckRollouts } from '../../activities/temporal/stuckRollouts.js';
import { rolloutWorkflowId } from '../../workflows/ids.js';
import { pauseUpdate, statusQuery } from '../../workflows/messages.js';
import { eventually } from '../support/eventually.js';
import { startRollout, steer } from '../support/rollouts.js';
import { ScriptedPool } from '../support/scriptedPool.js';
import { startTestWorker } from '../support/testWorker.js';

const nodePool = 'stuck';

it('a rollout whose history does not replay begins anew, and one that does is left alone', async () => {
  const cluster = randomUUID();
  const workflowsPath = fileURLToPath(new URL('../support/otherRollout.ts', import.meta.url));
  const workflowBundle = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
  const before = await startTestWorker({ workflowBundle }, cluster);
  const stuck = await startRollout(before, nodePool);
  await eventually(async () => {
    const { events } = await stuck.fetchHistory();
    expect(events?.some((event) => event.activityTaskCompletedEventAttributes)).toBe(true);
  });
  await before.stop();

  const worker = await startTestWorker({}, cluster);
  try {
    const pool = new ScriptedPool(worker, nodePool);
    const sound = new ScriptedPool(worker, 'sound');
    for (const each of [pool, sound]) each.drift(`old-of-${each.nodePool}`);
    const soundRollout = await startRollout(worker, 'sound');
    const { runId: soundRunId } = await soundRollout.describe();
    await startRollout(worker, nodePool);
    const workflowId = rolloutWorkflowId(cluster, nodePool);
    await eventually(async () => {
      expect(await resetStuckRollouts(worker.workflows, cluster)).toEqual([
        { workflowId, why: expect.stringContaining('does not replay') },
      ]);
    }, 60_000);
    await eventually(async () => {
      const { failures, replaced } = await worker.workflows.getHandle(workflowId).query(statusQuery);
      expect({ failures, replaced }).toMatchObject({ failures: [], replaced: [{ nodeClaim: 'old-of-stuck' }] });
    });
    const asker = { by: 'ops', why: 'test' };
    expect(await steer(worker, nodePool, pauseUpdate, asker)).toMatchObject(asker);
    expect(await resetStuckRollouts(worker.workflows, cluster)).toEqual([]);
    expect((await soundRollout.describe()).runId).toBe(soundRunId);
    for (const each of [nodePool, 'sound'])
      await worker.workflows.getHandle(rolloutWorkflowId(cluster, each)).terminate();
  } finally {
    await worker.stop();
  }
});
