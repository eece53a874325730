import type { Command } from 'commander';
import { Option } from 'commander';

import type { ReplaceOptions } from './runReplace.js';

/** `driftless replace`: has a node replaced that nothing else asks to replace. */
export function configureReplaceCommand(command: Command): void {
  command
    .argument('<nodeclaim>', 'a NodeClaim of a NodePool that Driftless may touch')
    .addOption(new Option('--reason <text>', 'why: it stands wherever the replacement is shown').conflicts('undo'))
    .addOption(new Option('--undo', 'take the request back').default(false))
    .action(async (nodeClaim: string, options: ReplaceOptions) => {
      const { runReplace } = await import('./runReplace.js');
      await runReplace(nodeClaim, options);
    });
}
