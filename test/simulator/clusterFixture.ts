import { KubeConfig } from '@kubernetes/client-node';

import type { KubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';
import { createKubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';
import type { ClusterSimulator, ClusterSimulatorOptions } from '../../simulator/cluster/clusterSimulator.js';
import { startClusterSimulator } from '../../simulator/cluster/clusterSimulator.js';
import type { RawAnswer, RawRequest } from '../../demo/controlPlane/access.js';
import { parsed, sendRaw } from '../../demo/controlPlane/access.js';

const token = 'secret-of-the-test';

/** Sent with the cluster's token, unless it names another or none. */
export interface ClusterRequest extends RawRequest {
  readonly token?: string | undefined;
}

export interface TestCluster {
  readonly simulator: ClusterSimulator;
  readonly api: KubernetesApi;
  /** A request that no client library has touched. */
  raw(method: string, path: string, request?: ClusterRequest): Promise<RawAnswer>;
}

export async function startCluster(options: Partial<ClusterSimulatorOptions> = {}): Promise<TestCluster> {
  const simulator = await startClusterSimulator({ token, ...options });
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromString(simulator.kubeConfigYaml());
  return {
    simulator,
    api: createKubernetesApi(kubeConfig, 'cluster-test'),
    raw: (method, path, request = {}) => {
      const { endpoint, caPem } = simulator;
      const access = { endpoint, caPem, token: 'token' in request ? request.token : token };
      return sendRaw(access, method, path, request);
    },
  };
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
