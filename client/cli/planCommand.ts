import type { Command } from 'commander';

import { addJudgingOptions, atOption, outputOption } from './commonOptions.js';
import type { PlanOptions } from './runPlan.js';

/** `driftless plan`: what would happen to a NodePool, and when; it changes nothing. */
export function configurePlanCommand(command: Command): void {
  command.argument('<nodepool>', 'a NodePool of the cluster that KUBECONFIG names').addOption(atOption());
  addJudgingOptions(command)
    .addOption(outputOption())
    .action(async (nodePool: string, options: PlanOptions) => {
      // Loaded only now, so that help and errors come at once.
      const { runPlan } = await import('./runPlan.js');
      await runPlan(nodePool, options);
    });
}
