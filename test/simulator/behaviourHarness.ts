import { KubeConfig } from '@kubernetes/client-node';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

import type { KubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';
import { createKubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';
import { createLog } from '../../runtime/log.js';
import type { BehaviourName, BehaviourOptions } from '../../simulator/behaviour/behaviours.js';
import { behaviourNames, startBehaviours } from '../../simulator/behaviour/behaviours.js';
import { closerOf } from '../../runtime/closeServer.js';
import { createServerCertificate } from '../../simulator/certificates.js';
import type { ClusterSimulator } from '../../simulator/cluster/clusterSimulator.js';
import { startClusterSimulator } from '../../simulator/cluster/clusterSimulator.js';

const token = 'behaviour-test';
export interface TestCluster {
  readonly simulator: ClusterSimulator;
  readonly api: KubernetesApi;
  /** Starts the behaviours that are named; they are stopped with the cluster. */
  play(names: readonly BehaviourName[], options?: Partial<BehaviourOptions>): Promise<void>;
  /** Sends JSON as it is, as no typed client would, and answers the JSON of the answer. */
  send(method: 'POST' | 'PATCH' | 'PUT' | 'DELETE', path: string, body?: object): Promise<void>;
  /** Something else to be closed with the cluster, after the behaviours have stopped. */
  closesWithIt(closeable: { close(): Promise<void> }): void;
  close(): Promise<void>;
}

export async function startTestCluster(): Promise<TestCluster> {
  const simulator = await startClusterSimulator({ token });
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromString(simulator.kubeConfigYaml());
  const behaviourStops: (() => Promise<void>)[] = [];
  const closeables: { close(): Promise<void> }[] = [simulator];
  return {
    simulator,
    api: createKubernetesApi(kubeConfig, 'behaviour-test'),
    async play(names, options) {
      const behaviours = await startBehaviours({
        kubeConfig,
        log: createLog('behaviour-test', 'error'),
        speed: 100,
        nodeBootMs: 30_000,
        podStartMs: 1_000,
        podTerminationMs: 5_000,
        skip: behaviourNames.filter((name) => !names.includes(name)),
        ...options,
      });
      behaviourStops.push(() => behaviours.stop());
    },
    send: (method, path, body) => send(simulator, method, path, body),
    closesWithIt(closeable) {
      closeables.push(closeable);
    },
    async close() {
      await Promise.all(behaviourStops.map((stop) => stop()));
      await Promise.all(closeables.map((closeable) => closeable.close()));
    },
  };
}

async function send(simulator: ClusterSimulator, method: string, path: string, body?: object): Promise<void> {
  const payload = JSON.stringify(body ?? {});
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
    'content-length': Buffer.byteLength(payload),
  };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(new URL(path, simulator.endpoint), { method, ca: simulator.caPem, headers }, resolve)
      .on('error', reject)
      .end(payload);
  });
  const answer = await text(response);
  if (response.statusCode === undefined || response.statusCode >= 300) {
    throw new Error(`${method} ${path}: ${String(response.statusCode)} ${answer}`);
  }
}

export interface TestMachine {
  readonly name: string;
  readonly vmId: string;
  readonly resourceId: string;
  readonly location: string;
  readonly zone: string;
  readonly vmSize: string;
  readonly customData?: string;
}

export function testMachine(name: string, bootstrap = ''): TestMachine {
  return {
    name,
    vmId: `id-of-${name}`,
    resourceId: `/subscriptions/sub/resourceGroups/rg/providers/Microsoft.Compute/virtualMachines/${name}`,
    location: 'westus2',
    zone: 'westus2-1',
    vmSize: 'Standard_D4s_v5',
    customData: Buffer.from(bootstrap).toString('base64'),
  };
}

/** A machine feed as the ARM simulator serves it. */
export class TestMachineFeed {
  readonly #running = new Map<string, object>();
  readonly #streams = new Set<ServerResponse>();

  private constructor(
    server: ReturnType<typeof createServer>,
    private readonly closeServer: () => Promise<void>,
    readonly options: { readonly endpoint: string; readonly caPem: string; readonly token: string },
  ) {
    server.on('request', (incoming, response) => {
      if (incoming.headers.authorization !== `Bearer ${token}` || incoming.url !== '/_simulator/machines') {
        response.writeHead(401).end();
        return;
      }
      response.writeHead(200, { 'content-type': 'application/x-ndjson' }).flushHeaders();
      for (const line of this.#running.values()) response.write(`${JSON.stringify(line)}\n`);
      this.#streams.add(response);
      response.on('close', () => this.#streams.delete(response));
    });
  }

  static async start(): Promise<TestMachineFeed> {
    const { caPem, certPem, keyPem } = await createServerCertificate('machine feed');
    const server = createServer({ cert: certPem, key: keyPem });
    const closeServer = closerOf(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TestMachineFeed(server, closeServer, {
      endpoint: `https://127.0.0.1:${portOf(server.address())}`,
      caPem,
      token,
    });
  }

  switchOn(machine: TestMachine): void {
    const line = { type: 'started', ...machine, at: Date.now() };
    this.#running.set(machine.name, line);
    this.#write(line);
  }

  switchOff({ name, vmId }: TestMachine): void {
    this.#running.delete(name);
    this.#write({ type: 'stopped', name, vmId, at: Date.now() });
  }

  /** Ends the streams; what happens until the client has connected again, it is not told. */
  dropConnections(): void {
    for (const stream of this.#streams) stream.destroy();
  }

  async close(): Promise<void> {
    await this.closeServer();
  }

  #write(line: object): void {
    for (const stream of this.#streams) stream.write(`${JSON.stringify(line)}\n`);
  }
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('the server does not listen on a port');
  return address.port;
}

export interface TestNode {
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
  readonly unschedulable?: boolean;
  readonly ready?: 'True' | 'False';
  readonly cpu?: string;
  readonly memory?: string;
  readonly pods?: string;
  readonly providerID?: string;
}

/** Makes a Node that nobody's kubelet looks after. */
export async function createNode(cluster: TestCluster, name: string, node: TestNode = {}): Promise<void> {
  const { labels, taints, unschedulable, providerID } = node;
  const { ready = 'True', cpu = '4', memory = '16Gi', pods = '110' } = node;
  await cluster.send('POST', '/api/v1/nodes', {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels },
    spec: { unschedulable, providerID },
  });
  // A new Node is tainted as not ready until the node lifecycle controller has looked at it.
  await cluster.send('PATCH', `/api/v1/nodes/${name}`, { spec: { taints: taints ?? null } });
  await cluster.send('PATCH', `/api/v1/nodes/${name}/status`, {
    status: {
      allocatable: { cpu, memory, pods },
      conditions: [{ type: 'Ready', status: ready, lastTransitionTime: '2026-01-01T00:00:00Z' }],
    },
  });
}

/** Makes a pod in the default namespace with one container. */
export async function createPod(
  cluster: TestCluster,
  name: string,
  {
    requests,
    ...spec
  }: { readonly requests?: Readonly<Record<string, string>> } & Readonly<Record<string, unknown>> = {},
): Promise<void> {
  await cluster.send('POST', '/api/v1/namespaces/default/pods', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: name } },
    spec: { containers: [{ name: 'main', image: 'pause:3.10', resources: { requests } }], ...spec },
  });
}

export async function createDeployment(
  cluster: TestCluster,
  name: string,
  replicas: number,
  requests: Readonly<Record<string, string>> = { cpu: '500m' },
): Promise<void> {
  const labels = { app: name };
  const containers = [{ name: 'main', image: 'pause:3.10', resources: { requests } }];
  await cluster.send('POST', '/apis/apps/v1/namespaces/default/deployments', {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  });
}
