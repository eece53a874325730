import type { Command } from 'commander';

import type { WorkerOptions } from './options.js';
import { addWorkerOptions } from './options.js';

/** `driftless worker`: serves one cluster until SIGTERM. */
export function configureWorkerCommand(command: Command): void {
  addWorkerOptions(command).action(async (options: WorkerOptions) => {
    // Loaded only now, so that help and errors come at once.
    const { runWorker } = await import('./runWorker.js');
    await runWorker(options);
  });
}
