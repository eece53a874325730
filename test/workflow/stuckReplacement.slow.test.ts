import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { fileURLToPath } from 'node:url';

import { replaceNodeWorkflowId } from '../../workflows/ids.js';
import { statusQuery } from '../../workflows/messages.js';
import { eventually } from '../support/eventually.js';
import { uidOf } from '../support/replacements.js';
import { startRollout } from '../support/rollouts.js';
import { ScriptedPool } from '../support/scriptedPool.js';
import type { TestWorker } from '../support/testWorker.js';
import { startTestWorker } from '../support/testWorker.js';

jest.setTimeout(120_000);
/** Temporal makes the attempts of a workflow task farther and farther apart. */
const stuckMs = 90_000;

let worker: TestWorker;
beforeAll(async () => {
  const workflowsPath = fileURLToPath(new URL('../support/stubbedWorkflows.ts', import.meta.url));
  worker = await startTestWorker({
    workflowBundle: await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') }),
  });
});
afterAll(async () => {
  await worker.stop();
});

it('a replacement whose workflow itself fails is told of as stuck until a person ends it', async () => {
  const pool = new ScriptedPool(worker, 'stuck');
  pool.settings = { ...pool.settings, lookAgainMs: 1_000 };
  pool.drift('broken-1');
  const rollout = await startRollout(worker, 'stuck');
  await eventually(async () => {
    expect(await rollout.query(statusQuery)).toMatchObject({
      inFlight: ['broken-1'],
      stuck: [
        { nodeClaim: 'broken-1', why: expect.stringMatching(/^its workflow task has failed \d+ times in a row/) },
      ],
    });
  }, stuckMs);
  const child = replaceNodeWorkflowId(worker.cluster, 'broken-1', uidOf('broken-1'));
  await worker.workflows.getHandle(child).terminate('by hand');
  await eventually(async () => {
    const status = await rollout.query(statusQuery);
    expect(status).toMatchObject({ inFlight: [], failures: [{ nodeClaim: 'broken-1', code: 'Terminated' }] });
    expect(status).not.toHaveProperty('stuck');
  });
  await rollout.terminate();
});
