import type { Command } from 'commander';
import { Option } from 'commander';

import type { LogLevel } from '../../runtime/log.js';
import { logLevels } from '../../runtime/log.js';
import { parseDurationMs, parseNamespacedName } from '../../runtime/optionParsers.js';

/** The watcher's options as commander reads them from flags and DRIFTLESS_* variables. */
export interface WatcherOptions {
  readonly expiryLead: number;
  readonly killSwitch: { readonly namespace: string; readonly name: string };
  readonly gather: number;
  readonly retryDelay: number;
  readonly logLevel: LogLevel;
}

/** Adds the watcher's options to a command. */
export function addWatcherOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--expiry-lead <duration>', "replace nodes so long before their expireAfter: as the worker's")
        .env('DRIFTLESS_EXPIRY_LEAD')
        .argParser(parseDurationMs)
        .default(parseDurationMs('1h'), '1h'),
    )
    .addOption(
      new Option('--kill-switch <namespace/name>', "the ConfigMap that stops everything: as the worker's")
        .env('DRIFTLESS_KILL_SWITCH')
        .argParser(parseNamespacedName)
        .default({ namespace: 'kube-system', name: 'driftless' }, 'kube-system/driftless'),
    )
    .addOption(
      new Option('--gather <duration>', 'how long the events of one pool are gathered before its rollout is poked')
        .env('DRIFTLESS_GATHER')
        .argParser(parseDurationMs)
        .default(250, '250ms'),
    )
    .addOption(
      new Option('--retry-delay <duration>', 'first wait after a lost watch or a failed poke')
        .env('DRIFTLESS_RETRY_DELAY')
        .argParser(parseDurationMs)
        .default(1000, '1s'),
    )
    .addOption(
      new Option('--log-level <level>', 'what is logged').env('DRIFTLESS_LOG_LEVEL').choices(logLevels).default('info'),
    );
}
