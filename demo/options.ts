import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';

import type { LogLevel } from '../runtime/log.js';
import { logLevels } from '../runtime/log.js';
import { parsePort, parsePositiveInteger, parsePositiveNumber, parseWholeNumber } from '../runtime/optionParsers.js';
import { simulatedDurationOptions } from '../simulator/options.js';

const clusterKinds = ['in-memory', 'real'] as const;

export interface DemoOptions {
  readonly nodes: number;
  readonly budget: string;
  readonly speed: number;
  readonly seed: number;
  readonly fail: number;
  readonly cluster: (typeof clusterKinds)[number];
  /** The file of a cluster that is there already; goes before `cluster`. */
  readonly kubeconfig?: string;
  readonly report?: string;
  readonly keep: boolean;
  readonly apart?: string;
  readonly host: string;
  readonly azurePort: number;
  readonly kubernetesPort: number;
  readonly vmCreate: number;
  readonly nodeBoot: number;
  readonly podTermination: number;
  readonly vmDelete: number;
  readonly logLevel: LogLevel;
}

/** Any more and the simulated world in one process is what is measured. */
const maxNodes = 1000;

function parseNodes(text: string): number {
  const nodes = parsePositiveInteger(text);
  if (nodes > maxNodes) throw new InvalidArgumentError(`It must be ${maxNodes} at the most.`);
  return nodes;
}

function parseBudget(text: string): string {
  if (!/^[1-9]\d*$|^([1-9]\d?|100)%$/.test(text))
    throw new InvalidArgumentError('It must be a number such as 5 or a percentage such as 10%.');
  return text;
}

function portOption(flag: string, help: string): Option {
  return new Option(`--${flag} <port>`, `${help}; 0: any free one`).argParser(parsePort).default(0);
}

/** Adds the demo's options to a command. */
export function addDemoOptions(command: Command): Command {
  return command
    .addOption(new Option('--nodes <n>', 'nodes that drift').argParser(parseNodes).default(10))
    .addOption(
      new Option('--budget <n>', 'disruption budget, a number or a percentage').argParser(parseBudget).default('5'),
    )
    .addOption(
      new Option('--speed <factor>', 'how many times as fast as Azure').argParser(parsePositiveNumber).default(20),
    )
    .addOption(new Option('--seed <n>', 'what names are derived from').argParser(parseWholeNumber).default(1))
    .addOption(new Option('--fail <n>', 'the first n VM creates fail, 20 s in').argParser(parseWholeNumber).default(0))
    .addOption(
      new Option('--cluster <kind>', 'a simulated API server, or a real one with its controllers')
        .choices(clusterKinds)
        .default('in-memory'),
    )
    .addOption(new Option('--kubeconfig <file>', 'a cluster without Nodes that is there already').conflicts('cluster'))
    .addOption(new Option('--report <file>', 'write what was measured there, as JSON'))
    .addOption(new Option('--keep', 'leave everything up until Ctrl-C').default(false))
    .addOption(
      new Option(
        '--apart <folder>',
        'leave Temporal (TEMPORAL_ADDRESS), worker and watcher to other processes: the folder gets kubeconfig, azure-ca.pem and azure-token for them',
      ),
    )
    .addOption(
      new Option('--host <name>', 'where the simulators listen, and how others reach them').default('127.0.0.1'),
    )
    .addOption(portOption('azure-port', 'of the simulated Azure'))
    .addOption(portOption('kubernetes-port', 'of the simulated Kubernetes API'))
    .addOption(simulatedDurationOptions.vmCreate())
    .addOption(simulatedDurationOptions.nodeBoot())
    .addOption(simulatedDurationOptions.podTermination())
    .addOption(simulatedDurationOptions.vmDelete())
    .addOption(
      new Option('--log-level <level>', 'what is logged')
        .env('DRIFTLESS_LOG_LEVEL')
        .choices(logLevels)
        .default('error'),
    );
}
