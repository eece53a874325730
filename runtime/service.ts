import type { Probed } from './health.js';
import { serveHealth, whyNotReady } from './health.js';
import type { Log } from './log.js';
import { stopSignal, untilAborted } from './signals.js';

/** What a process runs until it is told to stop. */
export interface Service extends Probed {
  /** Settles when it has ended, rejects when it failed; not there: it goes on until it is stopped. */
  readonly stopped?: Promise<void>;
  stop(): Promise<void>;
}

/**
 * Runs a service until SIGINT or SIGTERM, or until it fails. Its probes are answered from before its start to after its end.
 * @param healthPort as of serveHealth
 * @throws UserError when the port is not to be had, and whatever the start or the service fails with
 */
export async function runService(
  healthPort: number | undefined,
  log: Log,
  start: () => Promise<Service>,
): Promise<void> {
  const signal = stopSignal();
  let running: Service | undefined;
  const health = await serveHealth(healthPort, log, () => whyNotReady(signal, running));
  try {
    const stopping = untilAborted(signal);
    running = await Promise.race([start(), stopping]);
    // Nothing has been taken on before it has started, whatever keeps it from that: the process may end.
    if (running === undefined) return;
    await Promise.race([stopping, ...(running.stopped === undefined ? [] : [running.stopped])]);
    await running.stop();
  } finally {
    await health.close();
  }
}
