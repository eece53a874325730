import type { Command } from 'commander';

import type { MandatoryAskerOptions } from './askerOptions.js';
import { addMandatoryAskerOptions, askerOf } from './askerOptions.js';

/** `driftless pause`: nothing starts any more in a NodePool. */
export function configurePauseCommand(command: Command): void {
  addMandatoryAskerOptions(command.argument('<nodepool>', 'a NodePool that Driftless may touch')).action(
    async (nodePool: string, options: MandatoryAskerOptions) => {
      const { pauseRollout } = await import('./steerRollout.js');
      await pauseRollout(nodePool, askerOf(options));
    },
  );
}
