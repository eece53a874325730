#!/usr/bin/env node
import { Command } from 'commander';
import { existsSync } from 'node:fs';

import { errorMessage, UserError } from '../runtime/errors.js';

interface Subcommand {
  readonly name: string;
  readonly description: string;
  /** The room that it is in, where that is not everywhere: the service's image has neither demo nor simulator. */
  readonly room?: 'demo' | 'simulator';
  /** Loads only what the command needs. */
  readonly configure: (command: Command) => Promise<void>;
}

const subcommands: readonly Subcommand[] = [
  {
    name: 'demo',
    description: 'replay the reported case: ten drifted nodes, budget 5, on simulated Azure',
    room: 'demo',
    configure: async (command) => {
      (await import('../demo/command.js')).configureDemoCommand(command);
    },
  },
  {
    name: 'worker',
    description: 'run the workflows and activities of one cluster',
    configure: async (command) => {
      (await import('../worker/command.js')).configureWorkerCommand(command);
    },
  },
  {
    name: 'watcher',
    description: 'start rollouts when NodeClaims drift',
    configure: async (command) => {
      (await import('../client/watcher/command.js')).configureWatcherCommand(command);
    },
  },
  {
    name: 'budget',
    description: "say what a NodePool's disruption budgets allow, and when that changes",
    configure: async (command) => {
      (await import('../client/cli/budgetCommand.js')).configureBudgetCommand(command);
    },
  },
  {
    name: 'plan',
    description: 'say who of a NodePool would be replaced, in which order and when; changes nothing',
    configure: async (command) => {
      (await import('../client/cli/planCommand.js')).configurePlanCommand(command);
    },
  },
  {
    name: 'why',
    description: 'say what is happening to a node, or why it is not replaced; changes nothing',
    configure: async (command) => {
      (await import('../client/cli/whyCommand.js')).configureWhyCommand(command);
    },
  },
  {
    name: 'status',
    description: 'say what the rollouts do, and which NodePools have none running',
    configure: async (command) => {
      (await import('../client/cli/statusCommand.js')).configureStatusCommand(command);
    },
  },
  {
    name: 'pause',
    description: 'start nothing any more in a NodePool; what is under way goes on',
    configure: async (command) => {
      (await import('../client/cli/pauseCommand.js')).configurePauseCommand(command);
    },
  },
  {
    name: 'resume',
    description: 'go on after a pause',
    configure: async (command) => {
      (await import('../client/cli/resumeCommand.js')).configureResumeCommand(command);
    },
  },
  {
    name: 'retry',
    description: 'try again what failed, was canceled or skipped; ends a backoff and a halt',
    configure: async (command) => {
      (await import('../client/cli/retryCommand.js')).configureRetryCommand(command);
    },
  },
  {
    name: 'skip',
    description: 'leave one NodeClaim alone for a while',
    configure: async (command) => {
      (await import('../client/cli/skipCommand.js')).configureSkipCommand(command);
    },
  },
  {
    name: 'cancel',
    description: 'cancel replacements that are under way',
    configure: async (command) => {
      (await import('../client/cli/cancelCommand.js')).configureCancelCommand(command);
    },
  },
  {
    name: 'replace',
    description: 'have a node replaced that nothing else asks to replace',
    configure: async (command) => {
      (await import('../client/cli/replaceCommand.js')).configureReplaceCommand(command);
    },
  },
  {
    name: 'simulate',
    description: 'run one of the simulators alone',
    room: 'simulator',
    configure: async (command) => {
      (await import('../simulator/command.js')).configureSimulateCommand(command);
    },
  },
];

const program = new Command('driftless')
  .description('Paced, durable node replacement for Karpenter on Azure')
  // One line an error: commander puts its suggestion on a second one.
  .configureOutput({
    outputError: (text, write) => {
      write(`${text.trimEnd().replaceAll('\n', ' ')}\n`);
    },
  });
for (const { name, description, room, configure } of subcommands) {
  if (room !== undefined && !existsSync(new URL(`../${room}`, import.meta.url))) continue;
  const command = program.command(name).description(description);
  if (process.argv.slice(2).find((argument) => !argument.startsWith('-')) === name) await configure(command);
}

try {
  await program.parseAsync();
} catch (error) {
  // What the user has to put right is one line; anything else is a fault of ours and shows where.
  const text =
    error instanceof UserError || !(error instanceof Error) ? errorMessage(error) : (error.stack ?? error.message);
  process.stderr.write(`driftless: ${text}\n`);
  process.exitCode = 1;
}
// Temporal's native runtime would keep a process alive that ends before a worker has run in it.
process.exit();
