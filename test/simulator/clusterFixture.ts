import { KubeConfig } from '@kubernetes/client-node';
import { request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';

import type { KubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';
import { createKubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';
import type { ClusterSimulator, ClusterSimulatorOptions } from '../../simulator/cluster/clusterSimulator.js';
import { startClusterSimulator } from '../../simulator/cluster/clusterSimulator.js';

const token = 'secret-of-the-test';

export interface RawAnswer {
  readonly code: number;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface RawRequest {
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly token?: string | undefined;
}

export interface TestCluster {
  readonly simulator: ClusterSimulator;
  readonly api: KubernetesApi;
  /** A request that no client library has touched. */
  raw(method: string, path: string, request?: RawRequest): Promise<RawAnswer>;
}

export async function startCluster(options: Partial<ClusterSimulatorOptions> = {}): Promise<TestCluster> {
  const simulator = await startClusterSimulator({ token, ...options });
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromString(simulator.kubeConfigYaml());
  return {
    simulator,
    api: createKubernetesApi(kubeConfig, 'cluster-test'),
    raw: (method, path, request = {}) => sendRaw(simulator, method, path, { token, ...request }),
  };
}

function parsed(body: string): unknown {
  try {
    const value: unknown = JSON.parse(body);
    return value;
  } catch {
    return body;
  }
}

function sendRaw(simulator: ClusterSimulator, method: string, path: string, request: RawRequest): Promise<RawAnswer> {
  const authorization = request.token === undefined ? {} : { Authorization: `Bearer ${request.token}` };
  const options = {
    method,
    ca: simulator.caPem,
    agent: false,
    headers: { ...authorization, ...request.headers },
  } as const;
  return new Promise((resolve, reject) => {
    const outgoing = httpsRequest(simulator.endpoint + path, options, (response) => {
      text(response).then((body) => {
        resolve({ code: response.statusCode ?? 0, body: parsed(body), headers: response.headers });
      }, reject);
    });
    outgoing.on('error', reject);
    outgoing.end(request.body);
  });
}

/** The Status with which a call of the client fails; fails itself when the call does not. */
export async function failureOf(call: Promise<unknown>): Promise<unknown> {
  const error: unknown = await call.then(
    (answer) => {
      throw new Error(`succeeded: ${JSON.stringify(answer)}`);
    },
    (thrown: unknown) => thrown,
  );
  const body: unknown = error instanceof Error ? Reflect.get(error, 'body') : undefined;
  if (typeof body === 'string') return parsed(body);
  if (typeof body === 'object') return body;
  throw error;
}

/** Waits for a condition that events bring about; checks it whenever the loop turns. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

/** A pod that the API server accepts. */
export function podOf(
  name: string,
  more: { readonly labels?: Record<string, string>; readonly nodeName?: string } = {},
) {
  return {
    metadata: { name, labels: more.labels ?? {} },
    spec: { nodeName: more.nodeName, containers: [{ name: 'main', image: 'app:1' }] },
  };
}

export const nodeClaims = { group: 'karpenter.sh', version: 'v1', plural: 'nodeclaims' } as const;
export const nodePools = { group: 'karpenter.sh', version: 'v1', plural: 'nodepools' } as const;

export function nodeClaimOf(name: string, more: { readonly finalizers?: readonly string[] } = {}) {
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name, finalizers: more.finalizers ?? [] },
    spec: {
      nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' },
      requirements: [],
    },
  };
}
