import type { LogLevel as TemporalLogLevel } from '@temporalio/worker';
import { DefaultLogger, makeTelemetryFilterString, Runtime } from '@temporalio/worker';

import type { Log } from '../runtime/log.js';

/** What is not worth a line: shorter than that is Temporal's own chatter at each start and stop. */
const quietLevels: ReadonlySet<TemporalLogLevel> = new Set(['TRACE', 'DEBUG']);

/** Sends what Temporal's SDK logs, workflows' and activities' lines included, to our log. Once in a process, before any worker. */
export function installTemporalRuntime(log: Log): void {
  const logger = new DefaultLogger('INFO', ({ level, message, meta }) => {
    if (quietLevels.has(level)) return;
    const metadata: object = typeof meta === 'object' ? meta : {};
    switch (level) {
      case 'ERROR':
        log.error(metadata, message);
        return;
      case 'WARN':
        log.warn(metadata, message);
        return;
      case 'INFO':
      case 'DEBUG':
      case 'TRACE':
        log.info(metadata, message);
    }
  });
  Runtime.install({
    logger,
    shutdownSignals: [],
    telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }), forward: {} } },
  });
}
