import { KubeConfig } from '@kubernetes/client-node';
import type { Command } from 'commander';
import { Option } from 'commander';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { LogLevel } from '../runtime/log.js';
import { createLog, logLevels } from '../runtime/log.js';
import {
  parseDurationMs,
  parseHttpsUrl,
  parsePort,
  parsePositiveNumber,
  readTextFile,
} from '../runtime/optionParsers.js';
import { stopSignal, untilAborted } from '../runtime/signals.js';
import { startAzureSimulator } from './azure/azureSimulator.js';
import { readFaultsFile } from './azure/faults.js';
import { startBehaviours } from './behaviour/behaviours.js';
import { startClusterSimulator } from './cluster/clusterSimulator.js';

interface AzureOptions {
  readonly port: number;
  readonly speed: number;
  readonly faults?: string;
  readonly vmCreate: number;
  readonly vmDelete: number;
  readonly subscriptionId: string;
  readonly resourceGroup: string;
  readonly location: string;
}

interface ClusterOptions {
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

function portOption(): Option {
  return new Option('--port <port>', 'on 127.0.0.1; 0: any free one').argParser(parsePort).default(0);
}

function speedOption(): Option {
  return new Option('--speed <factor>', 'divides all simulated durations').argParser(parsePositiveNumber).default(1);
}

function durationOption(flag: string, text: string, help: string): Option {
  return new Option(`--${flag} <duration>`, `simulated: ${help}`)
    .argParser(parseDurationMs)
    .default(parseDurationMs(text), text);
}

/** `driftless simulate azure` and `driftless simulate cluster`: each until Ctrl-C. */
export function configureSimulateCommand(command: Command): void {
  command
    .command('azure')
    .description('Azure Resource Manager, as far as virtual machines need it')
    .addOption(portOption())
    .addOption(speedOption())
    .addOption(new Option('--faults <file>', 'JSON file of faults to inject'))
    .addOption(durationOption('vm-create', '60s', "a VM's create operation"))
    .addOption(durationOption('vm-delete', '45s', "a VM's delete operation"))
    .addOption(new Option('--subscription-id <id>', 'the subscription').default('8a1f0c52-6d0e-4b8e-9a55-3f1d2c7b9e10'))
    .addOption(new Option('--resource-group <name>', 'the resource group').default('MC_demo_driftless_westus2'))
    .addOption(new Option('--location <name>', 'the region').default('westus2'))
    .action(simulateAzure);
  command
    .command('cluster')
    .description('a Kubernetes API with nodes, pods and controllers that behave')
    .addOption(portOption())
    .addOption(speedOption())
    .addOption(durationOption('node-boot', '30s', "from a machine's start to its Node's being Ready"))
    .addOption(durationOption('pod-termination', '5s', 'from an eviction to the end of the pod'))
    .addOption(
      new Option('--azure-endpoint <url>', 'the ARM simulator whose machines become nodes').argParser(parseHttpsUrl),
    )
    .addOption(new Option('--azure-ca <file>', 'its CA').argParser(readTextFile))
    .addOption(new Option('--azure-token <file>', 'its token').argParser(readTextFile))
    .addOption(
      new Option('--log-level <level>', 'what is logged').env('DRIFTLESS_LOG_LEVEL').choices(logLevels).default('warn'),
    )
    .action(simulateCluster);
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

async function simulateAzure(options: AzureOptions): Promise<void> {
  const signal = stopSignal();
  const faults = options.faults === undefined ? [] : await readFaultsFile(options.faults);
  const token = randomBytes(24).toString('hex');
  const azure = await startAzureSimulator({
    port: options.port,
    speed: options.speed,
    subscriptionId: options.subscriptionId,
    resourceGroups: [options.resourceGroup],
    location: options.location,
    vmCreateMs: options.vmCreate,
    vmDeleteMs: options.vmDelete,
    token,
    faults,
  });
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

async function simulateCluster(options: ClusterOptions): Promise<void> {
  const signal = stopSignal();
  const cluster = await startClusterSimulator({ port: options.port, token: randomBytes(24).toString('hex') });
  try {
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromString(cluster.kubeConfigYaml());
    const { azureEndpoint, azureCa, azureToken } = options;
    const machines =
      azureEndpoint === undefined || azureCa === undefined || azureToken === undefined
        ? undefined
        : { endpoint: azureEndpoint, caPem: azureCa, token: azureToken.trim() };
    const behaviours = await startBehaviours({
      kubeConfig,
      log: createLog('driftless-simulator', options.logLevel),
      speed: options.speed,
      nodeBootMs: options.nodeBoot,
      podStartMs,
      podTerminationMs: options.podTermination,
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
