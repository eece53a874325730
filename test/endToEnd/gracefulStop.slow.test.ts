import { afterEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';

import { readRolloutHistories } from '../../demo/rolloutHistories.js';
import { historyTroubles } from '../../demo/historyTroubles.js';
import { nodePoolName } from '../../demo/scenario.js';
import type { ServiceProcess } from '../../demo/serviceProcess.js';
import { spawnDriftless, startWorkerProcess } from '../../demo/serviceProcess.js';
import { demoWorkerFlags } from '../../demo/settings.js';
import { until } from '../../demo/until.js';
import type { MomentKind } from '../chaos/moments.js';
import { atMoment } from '../chaos/moments.js';
import { putNames } from './auditQuestions.js';
import type { ReportedCaseRun } from './reportedCaseRun.js';
import { prepareReportedCase } from './reportedCaseRun.js';

const speed = 10;
/** What Kubernetes gives a Pod by default. */
const podGraceMs = 30_000;
const momentTimeoutMs = 90_000;

let run: ReportedCaseRun;
let workers: ServiceProcess[];

async function prepare(nodes: number, budget: number): Promise<void> {
  workers = [];
  run = await prepareReportedCase({ nodes, budget: String(budget), speed, withWorker: false });
}

afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.kill('SIGKILL')));
  await run.stop();
});

async function startWorker(...flags: readonly string[]): Promise<ServiceProcess> {
  const worker = await startWorkerProcess(run.stack, speed, flags);
  workers.push(worker);
  return worker;
}

/** Settles when the audit logs have shown the moment so many times. */
function moment(kind: MomentKind, count: number): Promise<void> {
  return new Promise((resolve) => {
    atMoment(run.stack, { kind, count }, resolve);
  });
}

interface Stop {
  readonly exitCode: number | null;
  readonly tookMs: number;
}

async function terminate(worker: ServiceProcess): Promise<Stop> {
  const startedAt = performance.now();
  const exitCode = await worker.kill('SIGTERM');
  return { exitCode, tookMs: performance.now() - startedAt };
}

async function troubles(): Promise<ReturnType<typeof historyTroubles>> {
  return historyTroubles(await readRolloutHistories(run.workflows, run.stack.clusterId, nodePoolName));
}

describe('SIGTERM to a worker', () => {
  it('fails no activity and loses no workflow task when both of two workers are replaced in mid-roll', async () => {
    const nodes = 12;
    await prepare(nodes, 4);
    const old = await Promise.all([startWorker(), startWorker()]);
    const moments = [moment('vmAsked', 3), moment('podEvicted', 3)];
    await run.drift();
    const stops: Stop[] = [];
    for (const [index, worker] of old.entries()) {
      await moments[index];
      await startWorker();
      stops.push(await terminate(worker));
    }
    expect(await run.untilRest()).toEqual({ kind: 'completed' });
    expect(stops.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    expect(Math.max(...stops.map(({ tookMs }) => tookMs))).toBeLessThan(podGraceMs);
    expect(await troubles()).toEqual({ failedActivities: [], failedAttempts: [], lostWorkflowTasks: [] });
    expect(await run.report()).toMatchObject({
      replaced: nodes,
      failed: 0,
      launchFailures: [],
      orphans: { vms: 0, nics: 0, nodeClaims: 0, taints: 0 },
    });
    for (const worker of old) expect(worker.log()).not.toContain('"level":50');
  }, 240_000);

  it('hands over an attempt that outlasts the grace time: the next worker adopts what it had begun', async () => {
    await prepare(1, 1);
    run.stack.azure.addFault({ on: 'createVirtualMachine', then: { kind: 'hang' } });
    // Shorter than a request may take.
    const worker = await startWorker('--shutdown-grace', '500ms');
    const asked = moment('vmAsked', 1);
    await run.drift();
    await asked;
    const { exitCode } = await terminate(worker);
    expect(exitCode).toBe(0);
    await startWorker();
    expect(await run.untilRest()).toEqual({ kind: 'completed' });
    expect(await troubles()).toEqual({ failedActivities: [], failedAttempts: [], lostWorkflowTasks: [] });
    const histories = await readRolloutHistories(run.workflows, run.stack.clusterId, nodePoolName);
    const lastWords = histories
      .flatMap(({ events }) => events)
      .map((event) => event.activityTaskStartedEventAttributes?.lastFailure?.message);
    expect(lastWords).toContain('its worker has stopped, another one goes on');
    expect(new Set(putNames(run.stack.azure)).size).toBe(1);
  }, 180_000);

  it('ends one that has not even started, as the API server does not answer', async () => {
    await prepare(1, 1);
    run.stack.cluster.addFault({ verb: 'list', userAgent: '^driftless/worker$', count: 1_000, then: { kind: 'hang' } });
    const child = spawnDriftless(run.stack, ['worker', ...demoWorkerFlags(speed)]);
    const exited = once(child, 'exit');
    const listed = (): boolean =>
      run.stack.cluster.audit.entries.some(
        ({ verb, userAgent }) => verb === 'list' && userAgent === 'driftless/worker',
      );
    await until('the worker lists', momentTimeoutMs, () => Promise.resolve(listed() ? true : undefined));
    child.kill('SIGTERM');
    await exited;
    expect(child.exitCode).toBe(0);
  }, 120_000);
});
