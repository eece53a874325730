import { ApplicationFailure } from '@temporalio/common';
import type { LogLevel as TemporalLogLevel, LogMetadata } from '@temporalio/worker';
import { DefaultLogger, makeTelemetryFilterString, Runtime } from '@temporalio/worker';

import { errorMessage } from '../runtime/errors.js';
import type { Log } from '../runtime/log.js';
import { failureTypes } from '../workflows/failures.js';

/** What is not worth a line: shorter than that is Temporal's own chatter at each start and stop. */
const quietLevels: ReadonlySet<TemporalLogLevel> = new Set(['TRACE', 'DEBUG']);

/** Errors as their message; task tokens and the like say nothing to anybody. */
function readable(meta: LogMetadata | undefined): object {
  const entries = Object.entries(meta ?? {}).filter(([key]) => !['taskToken', 'sdkComponent', 'isLocal'].includes(key));
  return Object.fromEntries(
    entries.map(([key, value]: [string, unknown]) => [key, value instanceof Error ? errorMessage(value) : value]),
  );
}

/** An attempt that ended because it has to wait is no failure: the next one comes. */
function isWaiting(meta: LogMetadata | undefined): boolean {
  const error: unknown = meta?.error;
  return error instanceof ApplicationFailure && error.type === failureTypes.waiting;
}

/** Sends what Temporal's SDK logs, workflows' and activities' lines included, to our log. Once in a process, before any worker. */
export function installTemporalRuntime(log: Log): void {
  const logger = new DefaultLogger('INFO', ({ level, message, meta }) => {
    if (quietLevels.has(level) || isWaiting(meta)) return;
    const metadata = readable(meta);
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
