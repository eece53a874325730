import { loadKubeConfig } from '../../activities/kubernetes/kubeConfig.js';
import { loadTemporalSettings } from '../../activities/temporal/connection.js';
import { serveHealth, whyNotReady } from '../../runtime/health.js';
import type { Log } from '../../runtime/log.js';
import { createLog } from '../../runtime/log.js';
import { stopSignal, untilAborted } from '../../runtime/signals.js';
import type { WatcherOptions } from './options.js';
import type { RunningWatcher, WatcherConfiguration } from './watcher.js';
import { startWatcher } from './watcher.js';

/** Runs a watcher until SIGINT or SIGTERM. */
export async function runWatcher(options: WatcherOptions): Promise<void> {
  const log = createLog('driftless-watcher', options.logLevel);
  const signal = stopSignal();
  let watcher: RunningWatcher | undefined;
  const health = await serveHealth(options.healthPort, log, () => whyNotReady(signal, watcher));
  try {
    const stopping = untilAborted(signal);
    watcher = await Promise.race([startWatcher(configurationOf(options, log)), stopping]);
    // Before it has started, whatever keeps it from that, there is nothing to let go of: the process may end.
    if (watcher === undefined) return;
    await stopping;
    await watcher.stop();
  } finally {
    await health.close();
  }
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
