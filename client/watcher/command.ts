import type { Command } from 'commander';

import type { WatcherOptions } from './options.js';
import { addWatcherOptions } from './options.js';

/** `driftless watcher`: watches one cluster until SIGTERM. */
export function configureWatcherCommand(command: Command): void {
  addWatcherOptions(command).action(async (options: WatcherOptions) => {
    // Loaded only now, so that help and errors come at once.
    const { runWatcher } = await import('./runWatcher.js');
    await runWatcher(options);
  });
}
