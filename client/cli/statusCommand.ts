import type { Command } from 'commander';

import { outputOption } from './commonOptions.js';
import type { StatusOptions } from './runStatus.js';

/** `driftless status`: what the rollouts do, and which NodePools have none running. */
export function configureStatusCommand(command: Command): void {
  command
    .argument('[nodepool]', 'one NodePool only; default: all that Driftless may touch')
    .addOption(outputOption())
    .action(async (nodePool: string | undefined, options: StatusOptions) => {
      const { runStatus } = await import('./runStatus.js');
      await runStatus(nodePool, options);
    });
}
