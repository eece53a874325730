import type { Command } from 'commander';
import { Option } from 'commander';

import {
  candidateDurations,
  durationOption,
  killSwitchOption,
  maxDisruptedNodesOption,
} from '../../runtime/driftlessOptions.js';
import { parseInstantMs } from '../../runtime/optionParsers.js';

/** How a command answers. */
export interface OutputOption {
  readonly output: 'text' | 'json';
}

export function outputOption(): Option {
  return new Option('-o, --output <format>', 'how to answer').choices(['text', 'json']).default('text');
}

/** An instant as epoch milliseconds. */
export function atOption(): Option {
  return new Option('--at <instant>', 'ISO 8601; default: now').argParser(parseInstantMs);
}

/** Adds what decides who is a candidate: the answer is the worker's only where these are the worker's. */
export function addJudgingOptions(command: Command): Command {
  for (const duration of Object.values(candidateDurations)) command.addOption(durationOption(duration));
  return command.addOption(maxDisruptedNodesOption()).addOption(killSwitchOption());
}
