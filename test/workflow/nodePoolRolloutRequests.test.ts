import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { statusQuery } from '../../workflows/messages.js';
import type { RolloutHandle } from '../support/rollouts.js';
import { refusalOf, startRollout, untilStatus } from '../support/rollouts.js';
import { ScriptedPool } from '../support/scriptedPool.js';
import type { TestWorker } from '../support/testWorker.js';
import { startTestWorker } from '../support/testWorker.js';

const why = 'x';
const ana = { by: 'ana', why };
const future = new Date(Date.now() + 3_600_000).toISOString();
const nobody = { nodeClaim: 'n', ...ana };

/** Update, what a person sends, and the beginning of the answer. */
const wrong: readonly (readonly [string, unknown, string])[] = [
  ['pause', undefined, 'the update needs one argument'],
  ['pause', null, 'the update needs one argument'],
  ['pause', 7, 'the update needs one argument'],
  ['pause', [ana], 'the update needs one argument'],
  ['pause', { why }, '"by" must be'],
  ['pause', { by: 'ana' }, '"why" must be'],
  ['pause', { by: 'ana', why: null }, '"why" must be'],
  ['pause', { by: 'ana', why: ' ' }, '"why" must be a text that is not empty'],
  ['pause', { by: 'ana', why: 'x'.repeat(501) }, '"why" must not be longer than 500'],
  ['pause', { by: 'ana', why: 'a\n# b' }, '"why" must be one line'],
  ['resume', null, 'the update needs one argument'],
  ['resume', { why }, '"by" must be'],
  ['retry', null, 'the update needs one argument'],
  ['retry', { nodeClaim: 3 }, '"nodeClaim" must be'],
  ['retry', { nodeClaim: null }, '"nodeClaim" must be'],
  ['retry', { by: 3 }, '"by" must be'],
  ['cancel', undefined, 'the update needs one argument'],
  ['cancel', { nodeClaim: 'n' }, '"by" must be'],
  ['cancel', { ...ana, nodeClaim: {} }, '"nodeClaim" must be'],
  ['skip', null, 'the update needs one argument'],
  ['skip', { ...ana, until: future }, '"nodeClaim" must be'],
  ['skip', nobody, '"until" must be'],
  ['skip', { ...nobody, until: 1_767_603_600_000 }, '"until" must be'],
  ['skip', { ...nobody, until: '2026-01-05T09:00:00' }, '"until" must be an instant with its zone'],
  ['skip', { ...nobody, until: '2026-02-31T09:00:00Z' }, '"until" must be an instant with its zone'],
  ['skip', { ...nobody, until: '2020-01-05T09:00:00Z' }, '"until" must lie in the future'],
  ['skip', { ...nobody, until: '2999-01-05T09:00:00Z' }, '"until" must not be more than 30 days ahead'],
  ['skip', { nodeClaim: 'n', until: future }, '"by" must be'],
];

let worker: TestWorker;
beforeAll(async () => {
  worker = await startTestWorker();
});
afterAll(async () => {
  await worker.stop();
});

/** As the UI sends it: with no type that would keep it from being wrong. */
function send(rollout: RolloutHandle, update: string, request: unknown): Promise<unknown> {
  return request === undefined ? rollout.executeUpdate(update) : rollout.executeUpdate(update, { args: [request] });
}

describe('what a person sends that is wrong', () => {
  it('is refused by name and field, and leaves no trace in the rollout', async () => {
    new ScriptedPool(worker, 'wrong').drift();
    const rollout = await startRollout(worker, 'wrong');
    await untilStatus(rollout, 'the first look is done', ({ admission }) => admission !== null);
    for (const [update, request, begins] of wrong) {
      const { type, message } = await refusalOf(send(rollout, update, request));
      expect({ update, request, type, message: message.slice(0, begins.length) }).toEqual({
        update,
        request,
        type: 'InvalidRequest',
        message: begins,
      });
    }

    const { events } = await rollout.fetchHistory();
    const traces = (events ?? []).filter(
      (event) => event.workflowTaskFailedEventAttributes ?? event.workflowExecutionUpdateAcceptedEventAttributes,
    );
    expect(traces).toEqual([]);
    expect(await rollout.query(statusQuery)).toMatchObject({ paused: null, skipped: [], interventions: [] });
    await rollout.terminate();
  });
});
