import type { Command } from 'commander';

import { addJudgingOptions, outputOption } from './commonOptions.js';
import type { WhyOptions } from './runWhy.js';

/** `driftless why`: what is happening to one node, or why nothing is; it changes nothing. */
export function configureWhyCommand(command: Command): void {
  command.argument('<node>', 'a NodeClaim, or a Node, of the cluster that KUBECONFIG names');
  addJudgingOptions(command)
    .addOption(outputOption())
    .action(async (name: string, options: WhyOptions) => {
      // Loaded only now, so that help and errors come at once.
      const { runWhy } = await import('./runWhy.js');
      await runWhy(name, options);
    });
}
