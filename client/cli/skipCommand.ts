import type { Command } from 'commander';
import { Option } from 'commander';

import { UserError } from '../../runtime/errors.js';
import { parseDurationMs, parseInstantMs } from '../../runtime/optionParsers.js';
import type { MandatoryAskerOptions } from './askerOptions.js';
import { addMandatoryAskerOptions, askerOf } from './askerOptions.js';

interface SkipOptions extends MandatoryAskerOptions {
  /** Milliseconds. */
  readonly for?: number;
  /** Epoch milliseconds. */
  readonly until?: number;
}

/** `driftless skip`: leaves one NodeClaim alone for a while. */
export function configureSkipCommand(command: Command): void {
  command
    .argument('<nodepool>', 'a NodePool that Driftless may touch')
    .argument('<nodeclaim>', 'one of its NodeClaims')
    .addOption(new Option('--for <duration>', 'for how long, e.g. 2h').argParser(parseDurationMs).conflicts('until'))
    .addOption(new Option('--until <instant>', 'until when, ISO 8601 with a zone').argParser(parseInstantMs));
  addMandatoryAskerOptions(command).action(async (nodePool: string, nodeClaim: string, options: SkipOptions) => {
    const untilMs = untilMsOf(options);
    const { skipNodeClaim } = await import('./steerRollout.js');
    await skipNodeClaim(nodePool, nodeClaim, untilMs, askerOf(options));
  });
}

function untilMsOf(options: SkipOptions): number {
  if (options.until !== undefined) return options.until;
  if (options.for !== undefined) return Date.now() + options.for;
  throw new UserError('give either --for, such as 2h, or --until, such as 2026-01-05T09:00:00Z');
}
