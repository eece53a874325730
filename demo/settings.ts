import { Command } from 'commander';

import type { ActivitySettings } from '../activities/environment.js';
import { simulatedAzure } from '../simulator/options.js';
import type { WorkerOptions } from '../worker/options.js';
import { activitySettings, addWorkerOptions } from '../worker/options.js';

/** The flags that a worker needs against the simulators; everything else is as it is by default, divided by the speed. */
export function demoWorkerFlags(speed: number): string[] {
  return [
    ...['--launcher', 'arm'],
    ...['--subscription-id', simulatedAzure.subscriptionId],
    ...['--resource-group', simulatedAzure.resourceGroup],
    ...['--location', simulatedAzure.location],
    // Nobody watches the demo for another minute.
    ...['--quiet', '20s'],
    ...['--speed', String(speed)],
  ];
}

/** The settings of a worker that was started with the demo's flags and these. */
export function demoActivitySettings(speed: number, ...flags: readonly string[]): ActivitySettings {
  const command = addWorkerOptions(new Command()).parse([...demoWorkerFlags(speed), ...flags], { from: 'user' });
  return activitySettings(command.opts<WorkerOptions>());
}
