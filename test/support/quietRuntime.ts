import { DefaultLogger, makeTelemetryFilterString, Runtime } from '@temporalio/worker';

let isInstalled = false;

/** Failing activities and replays are what the tests are about: only what breaks a worker itself is worth a line. */
export function installQuietRuntime(): void {
  // There is one runtime for all workers of a test file.
  if (isInstalled) return;
  isInstalled = true;
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    shutdownSignals: [],
    telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' }) } },
  });
}
