import { Option } from 'commander';

import { parseDurationMs, parseNamespacedName, parsePort, parsePositiveInteger } from './optionParsers.js';

/** An option that a DRIFTLESS_ variable sets as well. */
export function driftlessOption(flag: string, placeholder: string, help: string): Option {
  const variable = `DRIFTLESS_${flag.toUpperCase().replaceAll('-', '_')}`;
  return new Option(`--${flag} <${placeholder}>`, help).env(variable);
}

/** A duration as an option: its default is a text such as `15m`. */
export interface DurationOption {
  readonly flag: string;
  readonly text: string;
  readonly help: string;
}

/** Commander's options are not shared between commands, so each call makes one. */
export function durationOption({ flag, text, help }: DurationOption): Option {
  return driftlessOption(flag, 'duration', help).argParser(parseDurationMs).default(parseDurationMs(text), text);
}

/** What decides who is a candidate, in milliseconds, as commander reads it. */
export interface CandidateOptions {
  readonly expiryLead: number;
  readonly justStarted: number;
  readonly flap: number;
}

/** Every command that judges candidates has these, with the same defaults: else they would not agree. */
export const candidateDurations: Readonly<Record<keyof CandidateOptions, DurationOption>> = {
  expiryLead: { flag: 'expiry-lead', text: '1h', help: 'nodes are replaced so long before their expireAfter' },
  justStarted: {
    flag: 'just-started',
    text: '20s',
    help: 'a node that was Initialized less than so long ago is left alone',
  },
  flap: {
    flag: 'flap',
    text: '10m',
    help: 'a replacement that is to be replaced itself is left alone until this age',
  },
};

/** The cluster-wide cap; the default is the command's own. */
export function maxDisruptedNodesOption(): Option {
  return driftlessOption(
    'max-disrupted-nodes',
    'n',
    'nodes of all NodePools together that are replaced at once',
  ).argParser(parsePositiveInteger);
}

/** Where a container platform's probes are answered; by default nowhere, since there may be several processes on one machine. */
export function healthPortOption(): Option {
  return driftlessOption(
    'health-port',
    'port',
    'where /livez and /readyz are served over HTTP; 0: any free port',
  ).argParser(parsePort);
}

/** The kill switch: every command that heeds it has to mean the same ConfigMap. */
export function killSwitchOption(): Option {
  return driftlessOption('kill-switch', 'namespace/name', 'ConfigMap whose `paused: "true"` stops every change')
    .argParser(parseNamespacedName)
    .default({ namespace: 'kube-system', name: 'driftless' }, 'kube-system/driftless');
}
