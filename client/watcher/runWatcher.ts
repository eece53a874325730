import { loadKubeConfig } from '../../activities/kubernetes/kubeConfig.js';
import { loadTemporalSettings } from '../../activities/temporal/connection.js';
import { createLog } from '../../runtime/log.js';
import { stopSignal, untilAborted } from '../../runtime/signals.js';
import type { WatcherOptions } from './options.js';
import { startWatcher } from './watcher.js';

/** Runs a watcher until SIGINT or SIGTERM. */
export async function runWatcher(options: WatcherOptions): Promise<void> {
  const signal = stopSignal();
  const starting = startWatcher({
    kubeConfig: loadKubeConfig(process.env),
    temporal: loadTemporalSettings(),
    expiryLeadMs: options.expiryLead,
    killSwitch: options.killSwitch,
    gatherMs: options.gather,
    resyncMs: options.resync,
    retryDelayMs: options.retryDelay,
    log: createLog('driftless-watcher', options.logLevel),
  });
  const stopping = untilAborted(signal);
  const watcher = await Promise.race([starting, stopping]);
  // Before it has started, whatever keeps it from that, there is nothing to let go of: the process may end.
  if (watcher === undefined) return;
  await stopping;
  await watcher.stop();
}
