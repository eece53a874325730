import type { HistoryTroubles } from '../demo/historyTroubles.js';
import type { ServiceProcess } from '../demo/serviceProcess.js';
import { startWorkerProcess } from '../demo/serviceProcess.js';
import { findTemporalCli } from '../demo/temporalCli.js';
import type { TemporalServer } from '../demo/temporalServer.js';
import { startTemporalServer } from '../demo/temporalServer.js';
import { until } from '../demo/until.js';
import type { Benchmark, BenchmarkContext, Outcome } from './benchmark.js';
import { median, seconds } from './benchmark.js';
import type { PreparedRollout } from './rollout.js';
import { prepareRollout, speed } from './rollout.js';

const nodes = 24;
const budget = 8;
const rounds = 3;
/** Starting two processes on the machine that simulates everything costs some of it; a lost task costs three seconds. */
const maxRatio = 1.15;
const momentTimeoutMs = 120_000;

interface Run {
  readonly makespanMs: number;
  readonly troubles: HistoryTroubles;
  readonly stops: readonly Stop[];
}

interface Stop {
  readonly exitCode: number | null;
  readonly tookMs: number;
}

/** The workers of one rollout, replaced as a Deployment does it: first the new one, then SIGTERM to an old one. */
class Workers {
  readonly #running: ServiceProcess[] = [];

  constructor(private readonly rollout: PreparedRollout) {}

  async start(): Promise<void> {
    const { stack, environment } = this.rollout;
    this.#running.push(await startWorkerProcess(stack, speed, [], environment));
  }

  async replaceOldest(): Promise<Stop> {
    await this.start();
    const startedAt = performance.now();
    const exitCode = await this.#running.shift()?.kill('SIGTERM');
    return { exitCode: exitCode ?? null, tookMs: performance.now() - startedAt };
  }

  async stop(): Promise<void> {
    await Promise.all(this.#running.map((worker) => worker.kill('SIGKILL')));
  }
}

/** The load is there when all permits are taken. */
async function untilBusy({ stack }: PreparedRollout): Promise<void> {
  const creates = (): number =>
    stack.azure.audit.entries.filter((entry) => entry.kind === 'operation' && entry.operation === 'create').length;
  await until('all permits are taken', momentTimeoutMs, () => Promise.resolve(creates() >= budget ? true : undefined));
}

async function runOnce(temporal: TemporalServer, { log }: BenchmarkContext, restarts: boolean): Promise<Run> {
  const rollout = await prepareRollout(temporal, log, { nodes, budget, withWatcher: true });
  const workers = new Workers(rollout);
  try {
    await Promise.all([workers.start(), workers.start()]);
    const stops: Stop[] = [];
    const restarting = async (): Promise<void> => {
      if (!restarts) return;
      await untilBusy(rollout);
      stops.push(await workers.replaceOldest());
      stops.push(await workers.replaceOldest());
    };
    const [{ report, troubles }] = await Promise.all([rollout.run(), restarting()]);
    return { makespanMs: (report.makespanSeconds * 1000) / speed, troubles, stops };
  } finally {
    await workers.stop();
    await rollout.stop();
  }
}

function outcomeOf(plain: readonly Run[], restarted: readonly Run[]): Outcome {
  const makespans = (runs: readonly Run[]): number[] => runs.map(({ makespanMs }) => makespanMs);
  const ratio = median(makespans(restarted)) / median(makespans(plain));
  const troubles = restarted.map((run) => run.troubles);
  const failed = troubles.flatMap(({ failedActivities }) => failedActivities);
  const failedAttempts = troubles.flatMap((each) => each.failedAttempts);
  const lost = troubles.flatMap(({ lostWorkflowTasks }) => lostWorkflowTasks);
  const stops = restarted.flatMap((run) => run.stops);
  const unclean = stops.filter(({ exitCode }) => exitCode !== 0);
  const list = (runs: readonly Run[]): string => makespans(runs).map(seconds).join(', ');
  return {
    figures: [
      ['makespan with / without the restart', `${ratio.toFixed(3)} (medians of ${rounds}; at most ${maxRatio})`],
      ['failed activities', String(failed.length)],
      ['failed attempts', String(failedAttempts.length)],
      ['lost workflow tasks', String(lost.length)],
      ['without', list(plain)],
      ['with', list(restarted)],
      ['SIGTERM to exit', stops.map(({ tookMs }) => seconds(tookMs)).join(', ')],
    ],
    problems: [
      ...(ratio > maxRatio ? [`the restart made the rollout ${ratio.toFixed(3)} times as long`] : []),
      ...failed,
      ...failedAttempts,
      ...lost.map((text) => `a workflow task was lost: ${text}`),
      ...unclean.map(({ exitCode }) => `a worker ended with code ${String(exitCode)}`),
    ],
  };
}

/** What a deploy costs a rollout that is under way. */
export const rollingRestart: Benchmark = {
  name: 'rollingRestart',
  description: `${nodes} nodes, budget ${budget}, two workers, ${speed} times as fast as Azure: with and without a rolling restart`,
  async run(context) {
    const temporal = await startTemporalServer(await findTemporalCli(process.env, context.say));
    try {
      const plain: Run[] = [];
      const restarted: Run[] = [];
      for (let round = 1; round <= rounds; round += 1) {
        plain.push(await runOnce(temporal, context, false));
        restarted.push(await runOnce(temporal, context, true));
        const [without, withRestart] = [plain.at(-1)?.makespanMs ?? 0, restarted.at(-1)?.makespanMs ?? 0];
        context.say(`round ${round}: ${seconds(without)} without, ${seconds(withRestart)} with the restart`);
      }
      return outcomeOf(plain, restarted);
    } finally {
      await temporal.stop();
    }
  },
};
