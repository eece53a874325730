import type { Command } from 'commander';

import { createLog } from '../runtime/log.js';
import { stopSignal } from '../runtime/signals.js';
import type { DemoOptions } from './options.js';
import { addDemoOptions } from './options.js';

/** `driftless demo`: exit code 0 when every node was replaced, else 1; 130 after Ctrl-C. */
export function configureDemoCommand(command: Command): void {
  addDemoOptions(command).action(async (options: DemoOptions) => {
    // Loaded only now, so that help and errors come at once.
    const { installTemporalRuntime } = await import('../worker/temporalRuntime.js');
    const { runDemo } = await import('./demo.js');
    const log = createLog('driftless', options.logLevel);
    installTemporalRuntime(log);
    const signal = stopSignal();
    try {
      process.exitCode = (await runDemo(options, signal, log)) ? 0 : 1;
    } catch (error) {
      if (!signal.aborted) throw error;
      process.exitCode = 130;
    }
  });
}
