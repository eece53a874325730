import type { Command } from 'commander';
import { Option } from 'commander';

import type { CandidateOptions } from '../../runtime/driftlessOptions.js';
import {
  candidateDurations,
  durationOption,
  healthPortOption,
  killSwitchOption,
} from '../../runtime/driftlessOptions.js';
import type { LogLevel } from '../../runtime/log.js';
import { logLevels } from '../../runtime/log.js';

/** The watcher's options as commander reads them from flags and DRIFTLESS_* variables. */
export interface WatcherOptions extends Pick<CandidateOptions, 'expiryLead'> {
  readonly killSwitch: { readonly namespace: string; readonly name: string };
  readonly gather: number;
  readonly resync: number;
  readonly retryDelay: number;
  readonly healthPort?: number;
  readonly logLevel: LogLevel;
}

/** Adds the watcher's options to a command. */
export function addWatcherOptions(command: Command): Command {
  return command
    .addOption(durationOption(candidateDurations.expiryLead))
    .addOption(
      durationOption({
        flag: 'gather',
        text: '250ms',
        help: 'how long the events of one pool are gathered before its rollout is poked',
      }),
    )
    .addOption(
      durationOption({
        flag: 'resync',
        text: '10m',
        help: 'how often pools with something to do are poked without an event',
      }),
    )
    .addOption(killSwitchOption())
    .addOption(
      durationOption({ flag: 'retry-delay', text: '1s', help: 'first wait after a lost watch or a failed poke' }),
    )
    .addOption(healthPortOption())
    .addOption(
      new Option('--log-level <level>', 'what is logged').env('DRIFTLESS_LOG_LEVEL').choices(logLevels).default('info'),
    );
}
