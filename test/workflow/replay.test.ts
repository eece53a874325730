import { describe, expect, it } from '@jest/globals';
import { Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';

import { historyNames, parseHistory, readHistory } from '../support/histories.js';
import { installQuietRuntime } from '../support/quietRuntime.js';
import { workflowBundle } from '../support/testWorker.js';

installQuietRuntime();

async function replay(historyText: string): Promise<void> {
  await Worker.runReplayHistory({ workflowBundle }, parseHistory(historyText));
}

describe('stored histories', () => {
  it.each(historyNames)('%s replays with the workflows as they are now', async (name) => {
    await replay(await readHistory(name));
  });

  it('do not replay when a step is another one', async () => {
    const history = await readHistory('replacement');
    const changed = history.replace('"name": "drain"', '"name": "release"');
    expect(changed).not.toBe(history);
    await expect(replay(changed)).rejects.toBeInstanceOf(DeterminismViolationError);
  });

  it('do not replay when a rollout starts another child', async () => {
    const history = await readHistory('rollout');
    const changed = history.replace('"workflowId": "replace/', '"workflowId": "other/');
    expect(changed).not.toBe(history);
    await expect(replay(changed)).rejects.toBeInstanceOf(DeterminismViolationError);
  });

  it('r189: take the time from the history: the same one without its pauses does not replay', async () => {
    const history = parseHistory(await readHistory('rollout'));
    const [first] = history.events ?? [];
    for (const event of history.events ?? []) event.eventTime = first?.eventTime ?? null;
    await expect(Worker.runReplayHistory({ workflowBundle }, history)).rejects.toBeInstanceOf(
      DeterminismViolationError,
    );
  });
});
