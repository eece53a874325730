import type { Command } from 'commander';

import type { OptionalAskerOptions } from './askerOptions.js';
import { addOptionalAskerOptions, optionalAskerOf } from './askerOptions.js';

/** `driftless retry`: what failed, was canceled or skipped is tried again; ends a backoff and a halt. */
export function configureRetryCommand(command: Command): void {
  command
    .argument('<nodepool>', 'a NodePool that Driftless may touch')
    .argument('[nodeclaim]', 'this one only; default: all that failed or were skipped');
  addOptionalAskerOptions(command).action(
    async (nodePool: string, nodeClaim: string | undefined, options: OptionalAskerOptions) => {
      const { retryReplacements } = await import('./steerRollout.js');
      await retryReplacements(nodePool, nodeClaim, optionalAskerOf(options));
    },
  );
}
