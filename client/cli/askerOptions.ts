import type { Command } from 'commander';
import { Option } from 'commander';
import { userInfo } from 'node:os';

import { errorMessage, UserError } from '../../runtime/errors.js';
import type { Asker } from '../../workflows/messages.js';

/** Who asks, as commander reads it. */
interface ByOption {
  readonly by?: string;
}

/** Who asks, and why: both stay in the rollout's record. */
export interface MandatoryAskerOptions extends ByOption {
  readonly why: string;
}

export interface OptionalAskerOptions extends ByOption {
  readonly why?: string;
}

function whyOption(): Option {
  return new Option('--why <text>', 'the reason: it stays in the record');
}

function byOption(): Option {
  return new Option('--by <name>', 'who asks (default: the OS user)').env('DRIFTLESS_USER');
}

/** Adds `--why`, which has to be given, and `--by`. */
export function addMandatoryAskerOptions(command: Command): Command {
  return command.addOption(whyOption().makeOptionMandatory()).addOption(byOption());
}

/** Adds `--why` and `--by`. */
export function addOptionalAskerOptions(command: Command): Command {
  return command.addOption(whyOption()).addOption(byOption());
}

/** @throws UserError where the OS user has no name and `--by` is not given */
export function askerOf({ by, why }: MandatoryAskerOptions): Asker {
  return { by: by ?? userName(), why };
}

/** @throws UserError where the OS user has no name and `--by` is not given */
export function optionalAskerOf({ by, why }: OptionalAskerOptions): Partial<Asker> {
  return { by: by ?? userName(), ...(why === undefined ? {} : { why }) };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch (error) {
    throw new UserError(`--by: the OS user has no name, give one: ${errorMessage(error)}`);
  }
}
