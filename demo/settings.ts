import { Command } from 'commander';

import type { ActivitySettings } from '../activities/environment.js';
import { simulatedAzure } from '../simulator/options.js';
import type { WorkerOptions } from '../worker/options.js';
import type { WorkerConfiguration } from '../worker/worker.js';
import { activitySettings, addWorkerOptions, armThrottle, sweepSettings, workerTimeouts } from '../worker/options.js';

/** The flags that a worker needs against the simulators; everything else is as it is by default, divided by the speed. */
export function demoWorkerFlags(speed: number): string[] {
  return [
    ...['--launcher', 'arm'],
    ...['--subscription-id', simulatedAzure.subscriptionId],
    ...['--resource-group', simulatedAzure.resourceGroup],
    ...['--location', simulatedAzure.location],
    ...['--sweep', 'delete'],
    // Nobody watches the demo for another minute.
    ...['--quiet', '20s'],
    ...['--speed', String(speed)],
  ];
}

function parseFlags(speed: number, flags: readonly string[]): WorkerOptions {
  const command = addWorkerOptions(new Command()).parse([...demoWorkerFlags(speed), ...flags], { from: 'user' });
  return command.opts<WorkerOptions>();
}

export interface DemoSettings {
  readonly activities: ActivitySettings;
  readonly sweep: WorkerConfiguration['sweep'];
  readonly timeouts: WorkerConfiguration['timeouts'];
  readonly armThrottle: WorkerConfiguration['armThrottle'];
}

/** The settings of a worker that was started with the demo's flags and these. */
export function demoSettings(speed: number, ...flags: readonly string[]): DemoSettings {
  const options = parseFlags(speed, flags);
  return {
    activities: activitySettings(options),
    sweep: sweepSettings(options),
    timeouts: workerTimeouts(options),
    armThrottle: armThrottle(options),
  };
}
