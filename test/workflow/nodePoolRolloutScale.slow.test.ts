import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { temporal } from '@temporalio/proto';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

import { until } from '../../demo/until.js';
import { maxInFlight } from '../../karpenter/admission.js';
import { replaceNodeWorkflowId } from '../../workflows/ids.js';
import { retryUpdate, statusQuery } from '../../workflows/messages.js';
import type { RolloutResult } from '../../workflows/messages.js';
import { AdmittedPool } from '../support/admittedPool.js';
import type { Start } from '../support/admittedPool.js';
import type { History } from '../support/histories.js';
import { uidOf } from '../support/replacements.js';
import type { RolloutHandle } from '../support/rollouts.js';
import { startShortRollout } from '../support/rollouts.js';
import type { TestWorker } from '../support/testWorker.js';
import { startTestWorker } from '../support/testWorker.js';
import { poolName } from '../unit/poolFixture.js';

/** Some 90 s of processor time, the server included: the cores may be slow, and busy with other things as well. */
const timeoutMs = 600_000;
jest.setTimeout(timeoutMs);

const machines = 1_000;
/** Of the first five hundred, so many go on until the test lets them end: they are carried over. */
const held = 300;
const stoppedByHand = 20;
const failing = 20;
const continueAsNewAfterEvents = 800;

function nameOf(index: number): string {
  if (index % 50 === 5) return `fails-${index}`;
  return index < maxInFlight && index % 5 > 1 ? `held-${index}` : `quick-${index}`;
}

function isFirstOf(kind: 'held' | 'fails', { nodeClaim, round }: Omit<Start, 'atMs'>): boolean {
  return round === 0 && nodeClaim.startsWith(kind);
}

/** The histories of all runs of a rollout, from the first on. */
async function historiesFrom(
  { workflows }: TestWorker,
  { workflowId }: RolloutHandle,
  firstRunId: string,
): Promise<History[]> {
  const histories: History[] = [];
  for (let runId: string | undefined = firstRunId; runId !== undefined;) {
    const history: History = await workflows.getHandle(workflowId, runId).fetchHistory();
    histories.push(history);
    runId = history.events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? undefined;
  }
  return histories;
}

const childInput = z.object({ nodeClaim: z.string(), round: z.number() });

/** What Temporal knows of the children that were started: NodeClaim and rounds, in order. */
function startedRounds(histories: readonly History[]): Map<string, number[]> {
  const rounds = new Map<string, number[]>();
  const events = histories.flatMap((history) => history.events ?? []);
  for (const { startChildWorkflowExecutionInitiatedEventAttributes: started } of events) {
    const [payload] = started?.input?.payloads ?? [];
    if (!payload?.data) continue;
    const { nodeClaim, round } = childInput.parse(JSON.parse(Buffer.from(payload.data).toString('utf8')));
    rounds.set(nodeClaim, [...(rounds.get(nodeClaim) ?? []), round]);
  }
  return rounds;
}

describe('the rollout of a thousand drifted nodes with a budget of 100%', () => {
  const names = Array.from({ length: machines }, (_, index) => nameOf(index));
  let worker: TestWorker;
  let pool: AdmittedPool;
  let stopped: readonly string[];
  let result: RolloutResult;
  let histories: readonly History[];

  const untilTrue = (what: string, isIt: () => boolean): Promise<true> =>
    until(what, timeoutMs, () => Promise.resolve(isIt() ? (true as const) : undefined));

  const stopByHand = async (nodeClaim: string, index: number): Promise<void> => {
    const child = worker.workflows.getHandle(replaceNodeWorkflowId(worker.cluster, nodeClaim, uidOf(nodeClaim)));
    pool.forget(nodeClaim);
    if (index % 2 === 0) await child.cancel();
    else await child.terminate('by hand');
  };

  beforeAll(async () => {
    const workflowsPath = fileURLToPath(new URL('../support/stubbedWorkflows.ts', import.meta.url));
    worker = await startTestWorker({
      workflowBundle: await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') }),
      maxConcurrentActivityTaskExecutions: machines,
    });
    pool = new AdmittedPool(worker, names, [{ nodes: '100%' }], {
      isHeld: (start) => isFirstOf('held', start),
      fails: (start) => isFirstOf('fails', start),
    });
    pool.settings = { ...pool.settings, childCheckMs: 500 };
    const rollout = await startShortRollout(worker, poolName, continueAsNewAfterEvents);
    const { runId } = await rollout.describe();
    await untilTrue('a run that was handed all that are held', () => pool.looks.at(-1)?.input.describe.length === held);
    stopped = pool.atWork.slice(0, stoppedByHand);
    await Promise.all(stopped.map(stopByHand));
    pool.end(pool.atWork.slice(0, held / 2));
    await untilTrue('more of them in a further run', () => pool.starts.length > maxInFlight + held / 3);
    pool.endAll();
    const expected = machines + failing - stoppedByHand;
    await untilTrue('all others', () => pool.ended.length >= expected);
    await until('the rollout knows who was stopped', timeoutMs, async () => {
      const { failures } = await rollout.query(statusQuery);
      return failures.length === stoppedByHand && failures.every((failure) => failure.held) ? true : undefined;
    });
    await rollout.executeUpdate(retryUpdate, { args: [{}] });
    result = await rollout.result();
    histories = await historiesFrom(worker, rollout, runId);
  });

  afterAll(async () => {
    await worker.stop();
  });

  it('r014: lets five hundred start in one pass, and never more at once', () => {
    expect(pool.looks[0]?.observation.admission.start).toHaveLength(maxInFlight);
    for (const { input, observation } of pool.looks) {
      expect(input.inFlight.length + observation.admission.start.length).toBeLessThanOrEqual(maxInFlight);
    }
    expect(pool.mostAtWork).toBeGreaterThanOrEqual(held);
    expect(pool.mostAtWork).toBeLessThanOrEqual(maxInFlight);
  });

  it('r193: starts each once over several runs, and again only who failed or was stopped by hand', () => {
    expect(histories.length).toBeGreaterThanOrEqual(3);
    const rounds = startedRounds(histories);
    expect([...rounds.keys()].sort()).toEqual([...names].sort());
    for (const [nodeClaim, begun] of rounds) {
      const isTwice = nodeClaim.startsWith('fails') || stopped.includes(nodeClaim);
      expect([nodeClaim, begun]).toEqual([nodeClaim, isTwice ? [0, 1] : [0]]);
    }
  });

  it('reports every one as replaced, nobody twice', () => {
    const replaced = result.replaced.map(({ nodeClaim }) => nodeClaim);
    expect(replaced).toHaveLength(machines);
    expect(new Set(replaced)).toEqual(new Set(names));
    expect(result).toMatchObject({ failures: [], notNeeded: [] });
  });

  it("stays far below Temporal's limits: 51,200 events or 50 MB of history, 2 MB of a payload", () => {
    const { History: historyType, HistoryEvent: eventType } = temporal.api.history.v1;
    for (const history of histories) {
      const events = history.events ?? [];
      expect(events.length).toBeLessThan(10_000);
      expect(historyType.encode(history).finish().length).toBeLessThan(5_000_000);
      expect(Math.max(...events.map((event) => eventType.encode(event).finish().length))).toBeLessThan(400_000);
    }
    // A child takes three events of its parent; the rest is what looks and workflow tasks cost.
    const all = histories.reduce((sum, { events }) => sum + (events?.length ?? 0), 0);
    expect(all / machines).toBeLessThan(10);
  });
});
