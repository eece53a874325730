import type { Command } from 'commander';
import { Option } from 'commander';

import type { StatusOptions } from './runStatus.js';

/** `driftless status`: what the rollouts do, and which NodePools have none running. */
export function configureStatusCommand(command: Command): void {
  command
    .argument('[nodepool]', 'one NodePool only; default: all that Driftless may touch')
    .addOption(new Option('-o, --output <format>', 'how to answer').choices(['text', 'json']).default('text'))
    .action(async (nodePool: string | undefined, options: StatusOptions) => {
      const { runStatus } = await import('./runStatus.js');
      await runStatus(nodePool, options);
    });
}
