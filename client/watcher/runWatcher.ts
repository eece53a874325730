import { loadKubeConfig } from '../../activities/kubernetes/kubeConfig.js';
import { loadTemporalSettings } from '../../activities/temporal/connection.js';
import type { Log } from '../../runtime/log.js';
import { createLog } from '../../runtime/log.js';
import { runService } from '../../runtime/service.js';
import type { WatcherOptions } from './options.js';
import type { WatcherConfiguration } from './watcher.js';
import { startWatcher } from './watcher.js';

/** Runs a watcher until SIGINT or SIGTERM. */
export async function runWatcher(options: WatcherOptions): Promise<void> {
  const log = createLog('driftless-watcher', options.logLevel);
  await runService(options.healthPort, log, () => startWatcher(configurationOf(options, log)));
}

function configurationOf(options: WatcherOptions, log: Log): WatcherConfiguration {
  return {
    kubeConfig: loadKubeConfig(process.env),
    temporal: loadTemporalSettings(),
    expiryLeadMs: options.expiryLead,
    killSwitch: options.killSwitch,
    gatherMs: options.gather,
    resyncMs: options.resync,
    retryDelayMs: options.retryDelay,
    log,
  };
}
