import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { WorkflowFailedError } from '@temporalio/client';
import { CancelledFailure, WorkflowNotFoundError } from '@temporalio/common';
import { setTimeout as delay } from 'node:timers/promises';

import { lookAgainIn } from '../support/fakeActivities.js';
import { shown, startReplacement } from '../support/replacements.js';
import type { TestWorker } from '../support/testWorker.js';
import { startTestWorker } from '../support/testWorker.js';
import { Random } from '../unit/random.js';

const nodePool = 'any-instant';
const replacements = 250;
const atOnce = 25;
/** From the cancellation to the end, on a machine that is busy with the others. */
const boundMs = 120_000;

/** No deadline of a step comes before the bound. */
const patient = { deleteTimeoutMs: 2 * boundMs };

jest.setTimeout(900_000);

let worker: TestWorker;
beforeAll(async () => {
  worker = await startTestWorker();
});
afterAll(async () => {
  await worker.stop();
});

const random = new Random(186);

/** Every wait takes a few attempts. */
function waitSometimes(): Promise<void> {
  return random.below(2) === 0 ? lookAgainIn(1) : Promise.resolve();
}

/** How long a replacement takes, of as many at once, when nobody cancels it. */
async function usualMs(): Promise<number> {
  const beganAtMs = performance.now();
  const names = Array.from({ length: atOnce }, (_, index) => `undisturbed-${index}`);
  const start = (name: string) => startReplacement(worker.workflows, worker.cluster, nodePool, name);
  await Promise.all(names.map(async (name) => (await start(name)).result()));
  return performance.now() - beganAtMs;
}

/** Starts a replacement and cancels it at a random instant; answers how it ended. */
async function cancelOne(index: number, latestMs: number): Promise<string> {
  const handle = await startReplacement(worker.workflows, worker.cluster, nodePool, `old-${index}`, patient);
  await delay(random.below(latestMs));
  await handle.cancel().catch((error: unknown) => {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  });
  const end = handle.result().then(
    ({ kind }) => kind,
    (error: unknown) => {
      if (error instanceof WorkflowFailedError && error.cause instanceof CancelledFailure) return 'canceled';
      return `${index} failed: ${String(error)}`;
    },
  );
  const tooLate = delay(boundMs, undefined, { ref: false });
  return await Promise.race([end, tooLate.then(async () => `${index} is ${(await shown(handle)).status}`)]);
}

describe('replaceNode, when it is canceled at any instant', () => {
  it('r186: hundreds of times, comes to its end within the bound every time', async () => {
    const fakes = worker.fakesOf(nodePool);
    fakes.does.initialize = waitSometimes;
    fakes.does.drain = waitSometimes;
    fakes.does.followDeletion = waitSometimes;
    const latestMs = await usualMs();
    const ends: string[] = [];
    for (let first = 0; first < replacements; first += atOnce) {
      const batch = Array.from({ length: atOnce }, (_, index) => cancelOne(first + index, latestMs));
      ends.push(...(await Promise.all(batch)));
    }
    expect(ends).toHaveLength(replacements);
    expect(ends.filter((end) => end !== 'canceled' && end !== 'replaced')).toEqual([]);
    expect(new Set(ends)).toEqual(new Set(['canceled', 'replaced']));
  });
});
