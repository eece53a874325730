import { KubeConfig } from '@kubernetes/client-node';
import { z } from 'zod';

import type { KubernetesApi } from '../../../activities/kubernetes/kubernetesApi.js';
import { createKubernetesApi } from '../../../activities/kubernetes/kubernetesApi.js';
import { kubeConfigYaml } from '../../../simulator/cluster/kubeConfigYaml.js';
import { startClusterSimulator } from '../../../simulator/cluster/clusterSimulator.js';
import type { Access, RawAnswer } from '../server/access.js';
import { sendRaw } from '../server/access.js';
import { controlPlaneIn } from '../server/controlPlaneVariable.js';

/** An API server that is held to the suite: the in-memory one, or a real kube-apiserver where one was started for the tests. */
export interface ConformanceServer {
  readonly access: Access;
  readonly api: KubernetesApi;
  /** A prefix for the names of cluster-scoped objects, and a namespace: no other test file has them. */
  readonly own: string;
  /** One request; a body that is no text goes as JSON. */
  send(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<RawAnswer>;
  readonly close: () => Promise<void>;
}

const token = 'conformance';
const bookmarkIntervalMs = 200;

async function startServer(): Promise<{ readonly access: Access; readonly close: () => Promise<void> }> {
  const controlPlane = controlPlaneIn(process.env);
  if (controlPlane !== undefined) return { access: controlPlane.access, close: () => Promise.resolve() };
  const simulator = await startClusterSimulator({ token, bookmarkIntervalMs });
  const { endpoint, caPem } = simulator;
  return { access: { endpoint, caPem, token }, close: () => simulator.close() };
}

const namespaceSchema = z.object({ metadata: z.object({ name: z.string() }) });

/** Starts the in-memory API server, or takes the real one that the environment names; with a namespace for the test file. */
export async function startConformanceServer(): Promise<ConformanceServer> {
  const { access, close } = await startServer();
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromString(kubeConfigYaml(access));
  const send: ConformanceServer['send'] = (method, path, body, headers = {}) => {
    if (body === undefined) return sendRaw(access, method, path, { headers });
    const contentType = { 'Content-Type': 'application/json' };
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return sendRaw(access, method, path, { body: text, headers: { ...contentType, ...headers } });
  };
  const created = await send('POST', '/api/v1/namespaces', { metadata: { generateName: 'conformance-' } });
  const own = namespaceSchema.parse(created.body).metadata.name;
  return { access, api: createKubernetesApi(kubeConfig, 'conformance'), own, send, close };
}
