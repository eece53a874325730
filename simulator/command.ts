import type { Command } from 'commander';
import { Option } from 'commander';

import { logLevels } from '../runtime/log.js';
import { parseHttpsUrl, parsePort, parsePositiveNumber, readTextFile } from '../runtime/optionParsers.js';
import { simulatedAzure, simulatedDurationOptions } from './options.js';
import type { AzureOptions, ClusterOptions } from './runSimulators.js';

function portOption(): Option {
  return new Option('--port <port>', 'on 127.0.0.1; 0: any free one').argParser(parsePort).default(0);
}

function speedOption(): Option {
  return new Option('--speed <factor>', 'divides all simulated durations').argParser(parsePositiveNumber).default(1);
}

/** `driftless simulate azure` and `driftless simulate cluster`: each until Ctrl-C. */
export function configureSimulateCommand(command: Command): void {
  command
    .command('azure')
    .description('Azure Resource Manager, as far as virtual machines need it')
    .addOption(portOption())
    .addOption(speedOption())
    .addOption(new Option('--faults <file>', 'JSON file of faults to inject'))
    .addOption(simulatedDurationOptions.vmCreate())
    .addOption(simulatedDurationOptions.vmDelete())
    .addOption(new Option('--subscription-id <id>', 'the subscription').default(simulatedAzure.subscriptionId))
    .addOption(new Option('--resource-group <name>', 'the resource group').default(simulatedAzure.resourceGroup))
    .addOption(new Option('--location <name>', 'the region').default(simulatedAzure.location))
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
    .addOption(simulatedDurationOptions.nodeBoot())
    .addOption(simulatedDurationOptions.podTermination())
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
