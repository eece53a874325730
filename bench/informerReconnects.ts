import { KubeConfig } from '@kubernetes/client-node';
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { createKubernetesApi } from '../activities/kubernetes/kubernetesApi.js';
import type { ClusterSimulator } from '../simulator/cluster/clusterSimulator.js';
import { startClusterSimulator } from '../simulator/cluster/clusterSimulator.js';
import type { Benchmark, BenchmarkContext, Outcome } from './benchmark.js';
import { megabytes, seconds } from './benchmark.js';
import type { InformerMemory } from './informerMemory.js';
import { informerMemorySchema } from './informerMemory.js';

const reconnects = 10_000;
const measureEvery = 1_000;
const nodes = 20;
/** What a leak of some 300 bytes a reconnect would exceed: the heap has about 25 MiB. */
const maxHeapRatio = 1.1;
/** Connections that are still being closed. */
const maxMoreSockets = 5;

const goneStatus = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };
const errorStatus = { kind: 'Status', code: 500, reason: 'InternalError', message: 'etcd is away' };

/** The n-th watch is lost, in another way than the one before it. */
function lose(cluster: ClusterSimulator, n: number): void {
  if (n % 100 === 0) {
    cluster.addFault({ verb: 'watch', then: { kind: 'silence' } });
    return;
  }
  switch (n % 4) {
    case 0:
      cluster.addFault({ verb: 'watch', then: { kind: 'end' } });
      return;
    case 1:
      cluster.addFault({ verb: 'watch', then: { kind: 'errorEvent', status: errorStatus } });
      return;
    case 2:
      cluster.addFault({ verb: 'watch', then: { kind: 'errorEvent', status: goneStatus } });
      return;
    default:
      // Of the next connection nothing is left but its error.
      cluster.addFault({ verb: 'watch', then: { kind: 'reset' } });
      cluster.addFault({ verb: 'watch', then: { kind: 'end' } });
  }
}

/** Loses each watch as soon as it is open; settles when `upTo` of them have been opened, the last of which lasts. */
async function loseWatches(cluster: ClusterSimulator, from: number, upTo: number): Promise<void> {
  let watches = from;
  await new Promise<void>((resolve) => {
    const stop = cluster.audit.onAppend(({ verb, status }) => {
      if (verb !== 'watch') return;
      watches += 1;
      const n = watches;
      if (n >= upTo) {
        stop();
        resolve();
        return;
      }
      // One that was reset is lost already; the others are open when their request has been handled.
      if (status === 200) setImmediate(lose, cluster, n);
    });
    lose(cluster, from);
  });
}

async function measure(child: ChildProcess): Promise<InformerMemory> {
  const answered: Promise<readonly unknown[]> = once(child, 'message');
  child.send('measure');
  const [message] = await answered;
  return informerMemorySchema.parse(message);
}

async function startChild(cluster: ClusterSimulator): Promise<ChildProcess> {
  const child = fork(fileURLToPath(new URL('./informerProcess.js', import.meta.url)), { execArgv: ['--expose-gc'] });
  const ready = once(child, 'message');
  child.send(cluster.kubeConfigYaml());
  await ready;
  return child;
}

async function createNodes(cluster: ClusterSimulator): Promise<void> {
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromString(cluster.kubeConfigYaml());
  const { core } = createKubernetesApi(kubeConfig, 'driftless/bench');
  for (let index = 0; index < nodes; index += 1) {
    await core.createNode({ body: { metadata: { name: `node-${index}` } } });
  }
}

async function measureReconnects(cluster: ClusterSimulator, say: BenchmarkContext['say']): Promise<Outcome> {
  await createNodes(cluster);
  const child = await startChild(cluster);
  try {
    const startedAt = performance.now();
    const memories: InformerMemory[] = [];
    for (let done = 0; done < reconnects; done += measureEvery) {
      await loseWatches(cluster, done, done + measureEvery);
      const memory = await measure(child);
      memories.push(memory);
      const { heapBytes, rssBytes, sockets } = memory;
      say(
        `${done + measureEvery} reconnects: heap ${megabytes(heapBytes)}, RSS ${megabytes(rssBytes)}, ${sockets} sockets`,
      );
    }
    const [first, last] = [memories.at(0), memories.at(-1)];
    if (first === undefined || last === undefined) throw new Error('nothing was measured');
    return outcomeOf(first, last, performance.now() - startedAt);
  } finally {
    child.kill('SIGKILL');
  }
}

function outcomeOf(first: InformerMemory, last: InformerMemory, elapsedMs: number): Outcome {
  const heapRatio = last.heapBytes / first.heapBytes;
  const problems: string[] = [];
  if (heapRatio > maxHeapRatio) problems.push(`the heap grew by the factor ${heapRatio.toFixed(3)}: that is a leak`);
  if (last.sockets > first.sockets + maxMoreSockets) problems.push(`${last.sockets} sockets are open: they leak`);
  return {
    figures: [
      [`heap at ${reconnects} / at ${measureEvery}`, `${heapRatio.toFixed(3)} (at most ${maxHeapRatio})`],
      [`RSS at ${reconnects} / at ${measureEvery}`, (last.rssBytes / first.rssBytes).toFixed(3)],
      ['heap', `${megabytes(first.heapBytes)}, ${megabytes(last.heapBytes)}`],
      ['RSS', `${megabytes(first.rssBytes)}, ${megabytes(last.rssBytes)}`],
      ['sockets', `${first.sockets}, ${last.sockets}`],
      ['time', seconds(elapsedMs)],
    ],
    problems,
  };
}

/** Whether an informer keeps anything of the watches that it has lost. */
export const informerReconnects: Benchmark = {
  name: 'informerReconnects',
  description: `memory of an informer whose watch is lost ${reconnects} times: ended, 410, 500, reset, silent`,
  async run({ say }) {
    const cluster = await startClusterSimulator({ token: 'bench', bookmarkIntervalMs: 60_000 });
    try {
      return await measureReconnects(cluster, say);
    } finally {
      await cluster.close();
    }
  },
};
