import type { Command } from 'commander';
import { Option } from 'commander';

import { parseWholeNumber } from '../../runtime/optionParsers.js';
import { atOption, outputOption } from './commonOptions.js';
import type { BudgetOptions } from './runBudget.js';

/** `driftless budget`: exit code 1 when a budget is invalid. */
export function configureBudgetCommand(command: Command): void {
  command
    .argument('[nodepool]', 'a NodePool of the cluster that KUBECONFIG names')
    .addOption(new Option('-f, --file <file>', 'a NodePool in a YAML or JSON file instead: needs no cluster'))
    .addOption(new Option('--nodes <n>', 'with --file: how many nodes it has').argParser(parseWholeNumber))
    .addOption(new Option('--disrupted <n>', 'with --file: how many of them are disrupted').argParser(parseWholeNumber))
    .addOption(atOption())
    .addOption(new Option('--reason <reason>', 'one reason only'))
    .addOption(outputOption())
    .action(async (nodePool: string | undefined, options: BudgetOptions) => {
      // Loaded only now, so that help and errors come at once.
      const { runBudget } = await import('./runBudget.js');
      process.exitCode = await runBudget(nodePool, options);
    });
}
