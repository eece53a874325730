import type { KubeConfig } from '@kubernetes/client-node';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { readClusterId } from '../activities/kubernetes/cluster.js';
import type { KubernetesApi } from '../activities/kubernetes/kubernetesApi.js';
import { createKubernetesApi } from '../activities/kubernetes/kubernetesApi.js';
import type { TemporalSettings } from '../activities/temporal/connection.js';
import type { RunningWatcher } from '../client/watcher/watcher.js';
import { startWatcher } from '../client/watcher/watcher.js';
import type { Log } from '../runtime/log.js';
import type { AzureSimulator } from '../simulator/azure/azureSimulator.js';
import { startAzureSimulator } from '../simulator/azure/azureSimulator.js';
import type { AzureFault } from '../simulator/azure/faults.js';
import { startBehaviours } from '../simulator/behaviour/behaviours.js';
import type { ListenOptions } from '../simulator/listenOptions.js';
import { simulatedAzure } from '../simulator/options.js';
import type { RunningWorker } from '../worker/worker.js';
import { startWorker } from '../worker/worker.js';
import type { DemoCluster } from './cluster/demoCluster.js';
import type { InMemoryCluster } from './cluster/inMemoryCluster.js';
import { startInMemoryCluster } from './cluster/inMemoryCluster.js';
import type { MachineSeeder } from './scenario.js';
import { templateSecret } from './scenario.js';
import type { DemoSettings } from './settings.js';

/** The ConfigMap that stops everything. */
const killSwitch = { namespace: 'kube-system', name: 'driftless' };

/** How long things take in the simulated world, in simulated milliseconds. */
export interface SimulatedDurations {
  readonly vmCreateMs: number;
  readonly nodeBootMs: number;
  readonly podTerminationMs: number;
  readonly vmDeleteMs: number;
}

export interface StackOptions {
  readonly temporal: TemporalSettings;
  /** Divides all simulated durations. */
  readonly speed: number;
  readonly durations: SimulatedDurations;
  readonly settings: DemoSettings;
  readonly faults: readonly AzureFault[];
  readonly workflowBundle: string;
  /** Where the simulated Azure listens. Default: loopback, any free port. */
  readonly azureListens?: ListenOptions;
  /** A folder in which the files for other processes stay. Default: a temporary one. */
  readonly folder?: string;
  /** False where the worker is a process of its own. */
  readonly withWorker: boolean;
  /** False where the watcher is a process of its own, too. */
  readonly withWatcher?: boolean;
  readonly log: Log;
}

/** A pod of the demo is up a simulated second after it was bound. */
const podStartMs = 1_000;
const armWritesPerSecond = 200;
/** The scenario writes all its objects at once. */
const requestTimeoutMs = 60_000;

/** All parts of the reported case, in this process, but for Temporal. */
export interface Stack<Cluster extends DemoCluster = InMemoryCluster> {
  readonly azure: AzureSimulator;
  readonly cluster: Cluster;
  readonly clusterId: string;
  /** Our own client, for building the scenario and looking at it. */
  readonly api: KubernetesApi;
  readonly machines: MachineSeeder;
  /** Files for whoever wants to connect from outside: a kubeconfig, ARM's CA and token. */
  readonly files: { readonly kubeConfig: string; readonly azureCa: string; readonly azureToken: string };
  stop(): Promise<void>;
}

/** Starts all parts on a cluster in memory. What was started before a failure is stopped again. */
export async function startStack(options: StackOptions): Promise<Stack> {
  return startStackOn(await startInMemoryCluster(), options);
}

/** Starts the simulated Azure, behaviours, worker and watcher. The cluster is the stack's now: it is closed with it, after a failure too. */
export async function startStackOn<Cluster extends DemoCluster>(
  cluster: Cluster,
  options: StackOptions,
): Promise<Stack<Cluster>> {
  const { speed, durations, log } = options;
  const { kubeConfig } = cluster;
  const cleanUps = [() => cluster.close()];
  const stop = async (): Promise<void> => {
    for (let cleanUp = cleanUps.pop(); cleanUp !== undefined; cleanUp = cleanUps.pop()) await cleanUp();
  };
  try {
    const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'driftless-')));
    if (options.folder === undefined) cleanUps.push(() => rm(folder, { recursive: true, force: true }));
    const token = randomBytes(24).toString('hex');
    const azure = await startAzureSimulator({
      ...options.azureListens,
      subscriptionId: simulatedAzure.subscriptionId,
      resourceGroups: [simulatedAzure.resourceGroup],
      location: simulatedAzure.location,
      token,
      speed,
      vmCreateMs: durations.vmCreateMs,
      vmDeleteMs: durations.vmDeleteMs,
      faults: options.faults,
    });
    cleanUps.push(() => azure.close());
    const files = await writeFiles(folder, kubeConfig, azure, token);
    const behaviours = await startBehaviours({
      kubeConfig,
      log: log.child({ part: 'behaviours' }),
      speed,
      nodeBootMs: durations.nodeBootMs,
      podStartMs,
      podTerminationMs: durations.podTerminationMs,
      skip: cluster.skip,
      machines: { endpoint: azure.endpoint, caPem: azure.caPem, token },
    });
    cleanUps.push(() => behaviours.stop());
    const worker = options.withWorker ? await startDemoWorker(options, kubeConfig, azure, token) : undefined;
    if (worker !== undefined) cleanUps.push(() => worker.stop());
    const watcher = options.withWatcher === false ? undefined : await startDemoWatcher(options, kubeConfig);
    if (watcher !== undefined) cleanUps.push(() => watcher.stop());
    const api = createKubernetesApi(kubeConfig, 'driftless/demo', { requestTimeoutMs });
    const clusterId = await readClusterId(api);
    return { azure, cluster, clusterId, api, files, machines: machineSeeder(azure), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function startDemoWorker(
  options: StackOptions,
  kubeConfig: KubeConfig,
  azure: AzureSimulator,
  token: string,
): Promise<RunningWorker> {
  return startWorker({
    kubeConfig,
    temporal: options.temporal,
    arm: {
      endpoint: azure.endpoint,
      caPem: azure.caPem,
      createCredential: () => ({
        getToken: () => Promise.resolve({ token, expiresOnTimestamp: Date.now() + 3_600_000 }),
      }),
      ...simulatedAzure,
    },
    templateSecret,
    killSwitch,
    armWritesPerSecond,
    settings: options.settings.activities,
    sweep: options.settings.sweep,
    timeouts: options.settings.timeouts,
    armThrottle: options.settings.armThrottle,
    workflowBundle: options.workflowBundle,
    log: options.log.child({ part: 'worker' }),
  });
}

function startDemoWatcher(
  { temporal, speed, settings, log }: StackOptions,
  kubeConfig: KubeConfig,
): Promise<RunningWatcher> {
  return startWatcher({
    kubeConfig,
    temporal,
    killSwitch,
    expiryLeadMs: settings.activities.candidates.expiryLeadMs,
    gatherMs: Math.max(20, 250 / speed),
    resyncMs: 600_000 / speed,
    retryDelayMs: Math.max(50, 1000 / speed),
    log: log.child({ part: 'watcher' }),
  });
}

async function writeFiles(
  folder: string,
  kubeConfig: KubeConfig,
  azure: AzureSimulator,
  token: string,
): Promise<Stack['files']> {
  const files = {
    kubeConfig: join(folder, 'kubeconfig'),
    azureCa: join(folder, 'azure-ca.pem'),
    azureToken: join(folder, 'azure-token'),
  };
  await writeFile(files.kubeConfig, kubeConfig.exportConfig(), { mode: 0o600 });
  await writeFile(files.azureCa, azure.caPem);
  await writeFile(files.azureToken, token, { mode: 0o600 });
  return files;
}

function machineSeeder(azure: AzureSimulator): MachineSeeder {
  const { subscriptionId, resourceGroup } = simulatedAzure;
  const prefix = `azure:///subscriptions/${subscriptionId}/resourceGroups/${resourceGroup}/providers/Microsoft.Compute/virtualMachines/`;
  return {
    providerId: (name) => `${prefix}${name}`,
    seed(name, model) {
      azure.seedVirtualMachine(resourceGroup, name, model);
    },
  };
}
