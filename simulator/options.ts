import { Option } from 'commander';

import { parseDurationMs } from '../runtime/optionParsers.js';

/** What the simulators and the demo have in common: where the simulated Azure is, and how long things take there. */

export const simulatedAzure = {
  subscriptionId: '8a1f0c52-6d0e-4b8e-9a55-3f1d2c7b9e10',
  resourceGroup: 'MC_demo_driftless_westus2',
  location: 'westus2',
} as const;

function durationOption(flag: string, text: string, help: string): Option {
  return new Option(`--${flag} <duration>`, `simulated: ${help}`)
    .argParser(parseDurationMs)
    .default(parseDurationMs(text), text);
}

/** The options of the simulated durations; commander's options are not shared between commands, so each call makes one. */
export const simulatedDurationOptions = {
  vmCreate: () => durationOption('vm-create', '60s', "a VM's create operation"),
  nodeBoot: () => durationOption('node-boot', '30s', "from a machine's start to its Node's being Ready"),
  podTermination: () => durationOption('pod-termination', '5s', 'from an eviction to the end of the pod'),
  vmDelete: () => durationOption('vm-delete', '45s', "a VM's delete operation"),
} as const;
