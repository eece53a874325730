import { setTimeout as delay } from 'node:timers/promises';

import { requestsSince } from '../demo/requests.js';
import type { ServiceProcess } from '../demo/serviceProcess.js';
import { startServiceProcess, startWorkerProcess } from '../demo/serviceProcess.js';
import { findTemporalCli } from '../demo/temporalCli.js';
import type { TemporalServer } from '../demo/temporalServer.js';
import { startTemporalServer } from '../demo/temporalServer.js';
import { auditNow } from '../simulator/auditLog.js';
import type { Benchmark, BenchmarkContext, Outcome } from './benchmark.js';
import { megabytes, seconds } from './benchmark.js';
import { fillCluster } from './fillCluster.js';
import type { ProcessUsage } from './processUsage.js';
import { readProcessUsage } from './processUsage.js';
import type { PreparedRollout } from './rollout.js';
import { prepareRollout, speed } from './rollout.js';

const nodes = 20;
const budget = 5;
const otherNodes = 5_000;
/** How long a service at rest is watched. */
const restMs = 20_000;
/** The first lists have been digested by then. */
const settleMs = 10_000;
const maxRequestRatio = 1.1;

/** What a service took. */
interface ServiceFigures {
  /** Until it had read all its lists. */
  readonly startCpuMs: number;
  readonly restRssBytes: number;
  readonly peakRssBytes: number;
  /** In a minute at rest. */
  readonly restCpuMs: number;
  /** From the drift to the end of the rollout. */
  readonly rolloutCpuMs: number;
  readonly requestsPerReplacement: number;
}

interface Figures {
  readonly worker: ServiceFigures;
  readonly watcher: ServiceFigures;
  readonly makespanMs: number;
}

type Usages = Readonly<Record<'worker' | 'watcher', ProcessUsage>>;

async function usagesOf(worker: ServiceProcess, watcher: ServiceProcess): Promise<Usages> {
  return { worker: await readProcessUsage(worker.pid), watcher: await readProcessUsage(watcher.pid) };
}

async function measureServices(
  rollout: PreparedRollout,
  worker: ServiceProcess,
  watcher: ServiceProcess,
): Promise<Figures> {
  const started = await usagesOf(worker, watcher);
  await delay(settleMs);
  const atRest = await usagesOf(worker, watcher);
  await delay(restMs);
  const before = await usagesOf(worker, watcher);
  const driftAt = auditNow();
  const { report } = await rollout.run();
  const requests = requestsSince(driftAt, rollout.stack.cluster.audit.entries);
  const after = await usagesOf(worker, watcher);
  const figuresOf = (service: 'worker' | 'watcher'): ServiceFigures => ({
    startCpuMs: started[service].cpuMs,
    restRssBytes: before[service].rssBytes,
    peakRssBytes: after[service].peakRssBytes,
    restCpuMs: ((before[service].cpuMs - atRest[service].cpuMs) * 60_000) / restMs,
    rolloutCpuMs: after[service].cpuMs - before[service].cpuMs,
    requestsPerReplacement: requests[service] / nodes,
  });
  return {
    worker: figuresOf('worker'),
    watcher: figuresOf('watcher'),
    makespanMs: (report.makespanSeconds * 1000) / speed,
  };
}

async function measureCluster(
  temporal: TemporalServer,
  { log, say }: BenchmarkContext,
  others: number,
): Promise<Figures> {
  const rollout = await prepareRollout(temporal, log, { nodes, budget, withWatcher: false });
  const services: ServiceProcess[] = [];
  try {
    const filledAt = performance.now();
    await fillCluster(rollout.stack.cluster, others);
    say(`${nodes + others} nodes: filled within ${seconds(performance.now() - filledAt)}`);
    const worker = await startWorkerProcess(rollout.stack, speed, [], rollout.environment);
    services.push(worker);
    const watcher = await startServiceProcess(rollout.stack, ['watcher'], rollout.environment);
    services.push(watcher);
    return await measureServices(rollout, worker, watcher);
  } finally {
    await Promise.all(services.map((service) => service.kill('SIGKILL')));
    await rollout.stop();
  }
}

function serviceLines(name: string, small: ServiceFigures, large: ServiceFigures): (readonly [string, string])[] {
  const line = (what: string, value: (figures: ServiceFigures) => number, text: (value: number) => string) => {
    const [a, b] = [value(small), value(large)];
    const ratio = a === 0 ? '' : `${(b / a).toFixed(2)} `;
    return [`${name}: ${what}`, `${ratio}(${text(a)} -> ${text(b)})`] as const;
  };
  return [
    line(
      'requests a replacement',
      (figures) => figures.requestsPerReplacement,
      (count) => count.toFixed(1),
    ),
    line('RSS at rest', (figures) => figures.restRssBytes, megabytes),
    line('largest RSS', (figures) => figures.peakRssBytes, megabytes),
    line('CPU of the start', (figures) => figures.startCpuMs, seconds),
    line('CPU at rest, a minute', (figures) => figures.restCpuMs, seconds),
    line('CPU of the rollout', (figures) => figures.rolloutCpuMs, seconds),
  ];
}

function outcomeOf(small: Figures, large: Figures): Outcome {
  const requests = ({ worker, watcher }: Figures): number =>
    worker.requestsPerReplacement + watcher.requestsPerReplacement;
  const ratio = requests(large) / requests(small);
  return {
    figures: [
      ['requests a replacement, large / small', `${ratio.toFixed(3)} (at most ${maxRequestRatio})`],
      [
        'makespan',
        `${(large.makespanMs / small.makespanMs).toFixed(2)} (${seconds(small.makespanMs)} -> ${seconds(large.makespanMs)})`,
      ],
      ...serviceLines('worker', small.worker, large.worker),
      ...serviceLines('watcher', small.watcher, large.watcher),
    ],
    problems: ratio > maxRequestRatio ? [`requests grow with the cluster by the factor ${ratio.toFixed(3)}`] : [],
  };
}

/** What the size of the cluster costs, all of which but the pool in question has nothing to do with the rollout. */
export const clusterSize: Benchmark = {
  name: 'clusterSize',
  description: `${nodes} nodes, budget ${budget}, ${speed} times as fast as Azure: alone, and beside ${otherNodes} nodes with 10 pods each`,
  async run(context) {
    const temporal = await startTemporalServer(await findTemporalCli(process.env, context.say));
    try {
      const small = await measureCluster(temporal, context, 0);
      const large = await measureCluster(temporal, context, otherNodes);
      return outcomeOf(small, large);
    } finally {
      await temporal.stop();
    }
  },
};
