import type { Command } from 'commander';

import type { MandatoryAskerOptions } from './askerOptions.js';
import { addMandatoryAskerOptions, askerOf } from './askerOptions.js';

/** `driftless resume`: go on after a pause. */
export function configureResumeCommand(command: Command): void {
  addMandatoryAskerOptions(command.argument('<nodepool>', 'a NodePool that Driftless may touch')).action(
    async (nodePool: string, options: MandatoryAskerOptions) => {
      const { resumeRollout } = await import('./steerRollout.js');
      await resumeRollout(nodePool, askerOf(options));
    },
  );
}
