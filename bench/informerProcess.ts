import { KubeConfig } from '@kubernetes/client-node';
import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { z } from 'zod';

import { Informer } from '../activities/kubernetes/informer.js';
import { createKubernetesApi } from '../activities/kubernetes/kubernetesApi.js';
import { nodeCollection } from '../activities/kubernetes/nodes.js';
import { createLog } from '../runtime/log.js';
import type { InformerMemory } from './informerMemory.js';

/** Shorter than the services': thousands of losses would take hours. */
const retryDelayMs = 1;
const silenceMs = 250;
/** Weak references and finalizers take a few rounds. */
const collections = 5;

async function measure(): Promise<InformerMemory> {
  const { gc } = globalThis;
  if (gc === undefined) throw new Error('start it with --expose-gc');
  for (let round = 0; round < collections; round += 1) {
    gc();
    await turn();
  }
  const { heapUsed, rss } = process.memoryUsage();
  const sockets = process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap' || name === 'TLSWrap');
  return { heapBytes: heapUsed, rssBytes: rss, sockets: sockets.length };
}

/** A process with nothing but one informer, whose memory is measured whenever the parent asks. */
const messages: readonly unknown[] = await once(process, 'message');
const kubeConfig = new KubeConfig();
kubeConfig.loadFromString(z.string().parse(messages[0]));
const informer = new Informer(createKubernetesApi(kubeConfig, 'driftless/bench'), nodeCollection, {
  retryDelayMs,
  silenceMs,
  log: createLog('informer', 'silent'),
});
await informer.synced;
process.on('message', () => {
  void measure().then((memory) => process.send?.(memory));
});
process.send?.('ready');
