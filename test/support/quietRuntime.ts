import { DefaultLogger, makeTelemetryFilterString, Runtime } from '@temporalio/worker';

/** Failing activities and replays are what the tests are about: only what breaks a worker itself is worth a line. Once in a test file. */
export function installQuietRuntime(): void {
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    shutdownSignals: [],
    telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' }) } },
  });
}
