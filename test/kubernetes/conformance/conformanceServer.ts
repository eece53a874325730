import { KubeConfig } from '@kubernetes/client-node';
import { z } from 'zod';

import type { KubernetesApi } from '../../../activities/kubernetes/kubernetesApi.js';
import { createKubernetesApi } from '../../../activities/kubernetes/kubernetesApi.js';
import { kubeConfigYaml } from '../../../simulator/cluster/kubeConfigYaml.js';
import { startClusterSimulator } from '../../../simulator/cluster/clusterSimulator.js';
import type { Access, RawAnswer } from '../../../demo/controlPlane/access.js';
import { sendRaw } from '../../../demo/controlPlane/access.js';
import { controlPlaneIn } from '../server/controlPlaneVariable.js';

/** An API server that is held to the suite: the in-memory one, or a real kube-apiserver where one was started for the tests. */
export interface ConformanceServer {
  readonly access: Access;
  readonly api: KubernetesApi;
  /** A prefix for the names of cluster-scoped objects, and a namespace: no other test file has them. */
  readonly own: string;
  /** One request; a body that is no text goes as JSON. */
  send(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<RawAnswer>;
  /** Lets no watch of custom resources resume at their beginning. A real server has begun to watch them too late for that anyway. */
  readonly forgetPast: () => void;
  readonly close: () => Promise<void>;
}

const token = 'conformance';
const bookmarkIntervalMs = 200;

type RunningServer = Pick<ConformanceServer, 'access' | 'forgetPast' | 'close'>;

async function startSimulator(): Promise<RunningServer> {
  const simulator = await startClusterSimulator({ token, bookmarkIntervalMs, collectsGarbage: true });
  const { endpoint, caPem } = simulator;
  return {
    access: { endpoint, caPem, token },
    forgetPast: () => {
      simulator.compact();
    },
    close: () => simulator.close(),
  };
}

const namespaceSchema = z.object({ metadata: z.object({ name: z.string() }) });

async function withNamespace({ access, forgetPast, close }: RunningServer): Promise<ConformanceServer> {
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
  return { access, api: createKubernetesApi(kubeConfig, 'conformance'), own, send, forgetPast, close };
}

/** Starts the in-memory API server, with a namespace for the test file. */
export async function startInMemoryServer(): Promise<ConformanceServer> {
  return withNamespace(await startSimulator());
}

/** Takes the real API server that the environment names, else starts the in-memory one; with a namespace for the test file. */
export async function startConformanceServer(): Promise<ConformanceServer> {
  const controlPlane = controlPlaneIn(process.env);
  if (controlPlane === undefined) return startInMemoryServer();
  const nothing = (): void => undefined;
  return withNamespace({ access: controlPlane.access, forgetPast: nothing, close: () => Promise.resolve() });
}
