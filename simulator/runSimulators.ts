import { KubeConfig } from '@kubernetes/client-node';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { UserError } from '../runtime/errors.js';
import type { LogLevel } from '../runtime/log.js';
import { createLog } from '../runtime/log.js';
import { stopSignal, untilAborted } from '../runtime/signals.js';
import { startAzureSimulator } from './azure/azureSimulator.js';
import { readFaultsFile } from './azure/faults.js';
import { startBehaviours } from './behaviour/behaviours.js';
import { startClusterSimulator } from './cluster/clusterSimulator.js';

/** Options of `driftless simulate azure`; durations in simulated milliseconds. */
export interface AzureOptions {
  readonly port: number;
  readonly speed: number;
  readonly faults?: string;
  readonly vmCreate: number;
  readonly vmDelete: number;
  readonly subscriptionId: string;
  readonly resourceGroup: string;
  readonly location: string;
}

/** Options of `driftless simulate cluster`; durations in simulated milliseconds. */
export interface ClusterOptions {
  readonly port: number;
  readonly speed: number;
  readonly nodeBoot: number;
  readonly podTermination: number;
  readonly azureEndpoint?: string;
  readonly azureCa?: string;
  readonly azureToken?: string;
  readonly logLevel: LogLevel;
}

const podStartMs = 1_000;

/** @throws UserError when the port is taken */
async function startOnPort<T>(port: number, start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
    throw isTaken ? new UserError(`--port ${port} is in use: choose another, or 0 for any free one`) : error;
  }
}

async function withFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'driftless-simulate-'));
  try {
    await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function tell(lines: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(lines)) process.stdout.write(`${name.padEnd(12)} ${value}\n`);
}

/** Runs the ARM simulator until SIGINT or SIGTERM; prints how to reach it. */
export async function simulateAzure(options: AzureOptions): Promise<void> {
  const signal = stopSignal();
  const faults = options.faults === undefined ? [] : await readFaultsFile(options.faults);
  const token = randomBytes(24).toString('hex');
  const azure = await startOnPort(options.port, () =>
    startAzureSimulator({
      port: options.port,
      speed: options.speed,
      subscriptionId: options.subscriptionId,
      resourceGroups: [options.resourceGroup],
      location: options.location,
      vmCreateMs: options.vmCreate,
      vmDeleteMs: options.vmDelete,
      token,
      faults,
    }),
  );
  try {
    await withFolder(async (folder) => {
      const [ca, tokenFile] = [join(folder, 'azure-ca.pem'), join(folder, 'azure-token')];
      await writeFile(ca, azure.caPem);
      await writeFile(tokenFile, token, { mode: 0o600 });
      tell({
        endpoint: azure.endpoint,
        CA: ca,
        token: tokenFile,
        subscription: options.subscriptionId,
        group: options.resourceGroup,
      });
      await untilAborted(signal);
    });
  } finally {
    await azure.close();
  }
}

/** Runs the in-memory Kubernetes API with its behaviours until SIGINT or SIGTERM; prints how to reach it. */
export async function simulateCluster(options: ClusterOptions): Promise<void> {
  const signal = stopSignal();
  const cluster = await startOnPort(options.port, () =>
    startClusterSimulator({ port: options.port, token: randomBytes(24).toString('hex'), collectsGarbage: true }),
  );
  try {
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromString(cluster.kubeConfigYaml());
    const { azureEndpoint, azureCa, azureToken } = options;
    const machines =
      azureEndpoint === undefined || azureCa === undefined || azureToken === undefined
        ? undefined
        : { endpoint: azureEndpoint, caPem: azureCa, token: azureToken.trim() };
    if (machines === undefined && [azureEndpoint, azureCa, azureToken].some((given) => given !== undefined)) {
      throw new UserError('--azure-endpoint, --azure-ca and --azure-token go together');
    }
    const behaviours = await startBehaviours({
      kubeConfig,
      log: createLog('driftless-simulator', options.logLevel),
      speed: options.speed,
      nodeBootMs: options.nodeBoot,
      podStartMs,
      podTerminationMs: options.podTermination,
      skip: ['nodeLease'],
      ...(machines === undefined ? {} : { machines }),
    });
    try {
      await withFolder(async (folder) => {
        const path = join(folder, 'kubeconfig');
        await writeFile(path, cluster.kubeConfigYaml(), { mode: 0o600 });
        tell({ endpoint: cluster.endpoint, kubeconfig: path });
        await untilAborted(signal);
      });
    } finally {
      await behaviours.stop();
    }
  } finally {
    await cluster.close();
  }
}
