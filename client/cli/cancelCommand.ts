import type { Command } from 'commander';

import type { MandatoryAskerOptions } from './askerOptions.js';
import { addMandatoryAskerOptions, askerOf } from './askerOptions.js';

/** `driftless cancel`: replacements that are under way undo what they did. */
export function configureCancelCommand(command: Command): void {
  command
    .argument('<nodepool>', 'a NodePool that Driftless may touch')
    .argument('[nodeclaim]', 'the replacement of this one only; default: all that are under way');
  addMandatoryAskerOptions(command).action(
    async (nodePool: string, nodeClaim: string | undefined, options: MandatoryAskerOptions) => {
      const { cancelUnderWay } = await import('./steerRollout.js');
      await cancelUnderWay(nodePool, nodeClaim, askerOf(options));
    },
  );
}
