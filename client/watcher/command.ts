import type { Command } from 'commander';

import { loadKubeConfig } from '../../activities/kubernetes/kubeConfig.js';
import { loadTemporalSettings } from '../../activities/temporal/connection.js';
import { createLog } from '../../runtime/log.js';
import { stopSignal, untilAborted } from '../../runtime/signals.js';
import type { WatcherOptions } from './options.js';
import { addWatcherOptions } from './options.js';
import { startWatcher } from './watcher.js';

/** `driftless watcher`: watches one cluster until SIGTERM. */
export function configureWatcherCommand(command: Command): void {
  addWatcherOptions(command).action(async (options: WatcherOptions) => {
    const signal = stopSignal();
    const watcher = await startWatcher({
      kubeConfig: loadKubeConfig(process.env),
      temporal: loadTemporalSettings(),
      gatherMs: options.gather,
      retryDelayMs: options.retryDelay,
      log: createLog('driftless-watcher', options.logLevel),
    });
    await untilAborted(signal);
    await watcher.stop();
  });
}
