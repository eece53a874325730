import type { Command } from 'commander';
import { Option } from 'commander';

import { logLevels } from '../runtime/log.js';
import {
  parseDurationMs,
  parseHttpsUrl,
  parsePort,
  parsePositiveNumber,
  readTextFile,
} from '../runtime/optionParsers.js';
import type { AzureOptions, ClusterOptions } from './runSimulators.js';

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
    .action(async (options: AzureOptions) => {
      // Loaded only now, so that help and errors come at once.
      const { simulateAzure } = await import('./runSimulators.js');
      await simulateAzure(options);
    });
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
    .action(async (options: ClusterOptions) => {
      const { simulateCluster } = await import('./runSimulators.js');
      await simulateCluster(options);
    });
}
