import type { Command } from 'commander';
import { Option } from 'commander';

import type { ThrottleBounds } from '../activities/azure/throttle.js';
import type { ActivitySettings } from '../activities/environment.js';
import type { SweepSettings } from '../activities/sweep.js';
import type { CandidateOptions, DurationOption } from '../runtime/driftlessOptions.js';
import {
  candidateDurations,
  driftlessOption as option,
  durationOption,
  healthPortOption,
  killSwitchOption,
  maxDisruptedNodesOption,
} from '../runtime/driftlessOptions.js';
import type { LogLevel } from '../runtime/log.js';
import { logLevels } from '../runtime/log.js';
import {
  parseDeploymentVersion,
  parseHttpsUrl,
  parseNamespacedName,
  parsePositiveInteger,
  parsePositiveNumber,
  readTextFile,
} from '../runtime/optionParsers.js';
import type { WorkerTimeouts } from './worker.js';

/** The worker's options as commander reads them from flags and DRIFTLESS_* variables. */
export interface WorkerOptions extends CandidateOptions {
  readonly launcher: 'arm';
  readonly azureEndpoint: string;
  readonly azureCa?: string;
  readonly azureTokenFile?: string;
  readonly subscriptionId: string;
  readonly resourceGroup: string;
  readonly location: string;
  readonly vmTemplateSecret: { readonly namespace: string; readonly name: string };
  readonly killSwitch: { readonly namespace: string; readonly name: string };
  readonly armWritesPerSecond: number;
  readonly maxLaunchAttempts: number;
  readonly launchTimeout: number;
  readonly registrationTtl: number;
  readonly initializeTimeout: number;
  readonly drainTimeout: number;
  readonly detachTimeout: number;
  readonly deleteTimeout: number;
  readonly waitInterval: number;
  readonly pollInterval: number;
  readonly pollDelayMin: number;
  readonly pollDelayMax: number;
  readonly throttleMax: number;
  readonly backoff: number;
  readonly backoffMax: number;
  readonly haltAfterFailures: number;
  readonly quiet: number;
  readonly childCheck: number;
  readonly shutdownGrace: number;
  readonly lookAgain: number;
  readonly maxDisruptedNodes: number;
  readonly sweep: 'report' | 'delete';
  readonly sweepInterval: number;
  readonly sweepMinAge: number;
  readonly sweepMaxDeletions: number;
  readonly deploymentVersion?: { readonly deploymentName: string; readonly buildId: string };
  readonly healthPort?: number;
  readonly speed: number;
  readonly logLevel: LogLevel;
}

/** The bounds of the design, each an option. */
const durations: readonly DurationOption[] = [
  { flag: 'launch-timeout', text: '15m', help: "for a VM's create operation" },
  { flag: 'registration-ttl', text: '15m', help: 'until a new Node has registered' },
  { flag: 'initialize-timeout', text: '30m', help: 'until a new Node is Initialized' },
  { flag: 'drain-timeout', text: '1h', help: 'for the drain of a node without a terminationGracePeriod' },
  { flag: 'detach-timeout', text: '6m', help: "until a drained node's disks are detached; then it is deleted anyway" },
  { flag: 'delete-timeout', text: '30m', help: "for a VM's delete operation" },
  { flag: 'wait-interval', text: '1s', help: 'between two looks at Kubernetes; longer when much is in flight' },
  { flag: 'poll-interval', text: '10s', help: 'between two reads of an operation where Azure names none' },
  { flag: 'poll-delay-min', text: '1s', help: "the least of Azure's Retry-After that is honoured" },
  { flag: 'poll-delay-max', text: '60s', help: "the most of Azure's Retry-After that is honoured" },
  { flag: 'throttle-max', text: '5m', help: "the most of a 429's Retry-After that is honoured, for all such requests" },
  { flag: 'backoff', text: '1m', help: 'first pause of a pool after a failure; doubles' },
  { flag: 'backoff-max', text: '10m', help: 'longest pause of a pool after failures' },
  { flag: 'quiet', text: '1m', help: 'a pool that asks for nothing for so long ends its rollout' },
  { flag: 'look-again', text: '5m', help: 'between two looks at a pool with blocked candidates' },
  ...Object.values(candidateDurations),
  { flag: 'sweep-interval', text: '5m', help: 'between two looks for what no running workflow owns' },
  { flag: 'sweep-min-age', text: '10m', help: 'younger NodeClaims and VMs are no orphans' },
  {
    flag: 'shutdown-grace',
    text: '25s',
    help: "for running activities to end at a stop; less than the Pod's own grace",
  },
  { flag: 'child-check', text: '30s', help: 'between two looks at replacements that another run started' },
];

/** Adds the worker's options to a command. */
export function addWorkerOptions(command: Command): Command {
  command
    .addOption(
      option('launcher', 'name', 'who creates nodes: Driftless itself through ARM')
        .choices(['arm'])
        .makeOptionMandatory(),
    )
    .addOption(
      option('azure-endpoint', 'url', "Azure Resource Manager's address")
        .default('https://management.azure.com')
        .argParser(parseHttpsUrl),
    )
    .addOption(option('azure-ca', 'file', 'PEM file of a CA to trust for it').argParser(readTextFile))
    .addOption(option('azure-token-file', 'file', "a bearer token's file, instead of Azure's default credentials"))
    .addOption(
      new Option('--subscription-id <id>', 'Azure subscription').env('AZURE_SUBSCRIPTION_ID').makeOptionMandatory(),
    )
    .addOption(option('resource-group', 'name', "the group of the cluster's nodes").makeOptionMandatory())
    .addOption(option('location', 'name', 'Azure region, e.g. westus2').makeOptionMandatory())
    .addOption(
      option('vm-template-secret', 'namespace/name', 'Secret with template.json and bootstrap')
        .argParser(parseNamespacedName)
        .default({ namespace: 'kube-system', name: 'driftless-vm-template' }, 'kube-system/driftless-vm-template'),
    )
    .addOption(killSwitchOption())
    .addOption(
      option('arm-writes-per-second', 'n', 'for all workers of the cluster together')
        .argParser(parsePositiveNumber)
        .default(10),
    )
    .addOption(
      option('max-launch-attempts', 'n', 'offerings that one replacement tries')
        .argParser(parsePositiveInteger)
        .default(3),
    )
    .addOption(maxDisruptedNodesOption().default(100))
    .addOption(
      option('sweep', 'mode', 'what is done with NodeClaims and VMs of ours that no running workflow owns')
        .choices(['report', 'delete'])
        .default('report'),
    )
    .addOption(
      option('sweep-max-deletions', 'n', 'so many of them are deleted at once at the most')
        .argParser(parsePositiveInteger)
        .default(10),
    )
    .addOption(
      option('halt-after-failures', 'n', 'failures in a row that halt a rollout')
        .argParser(parsePositiveInteger)
        .default(5),
    );
  for (const duration of durations) command.addOption(durationOption(duration));
  return command
    .addOption(
      option(
        'deployment-version',
        'name.build',
        "this worker's version of a Temporal worker deployment; running workflows go over to the current one",
      ).argParser(parseDeploymentVersion),
    )
    .addOption(healthPortOption())
    .addOption(
      option('speed', 'factor', 'divides all durations: for use with simulators')
        .argParser(parsePositiveNumber)
        .default(1),
    )
    .addOption(option('log-level', 'level', 'what is logged').choices(logLevels).default('info'));
}

/** How often orphans are looked for, and what is done with them. */
export function sweepSettings(options: WorkerOptions): SweepSettings & { readonly intervalMs: number } {
  return {
    mode: options.sweep,
    // Temporal's schedules count in seconds.
    intervalMs: Math.max(1_000, Math.round(options.sweepInterval / options.speed)),
    minAgeMs: Math.round(options.sweepMinAge / options.speed),
    maxDeletions: options.sweepMaxDeletions,
  };
}

/** Shortest time that an answer gets, whatever the speed: machines do not get faster with it. */
const shortestTimeoutMs = 3_000;
const kubernetesRequestMs = 15_000;
const armRequestMs = 20_000;
/** Longer than any one request. */
const attemptMs = 30_000;
/** Temporal's own default. */
const stickyQueueMs = 10_000;

function timeoutMs(ms: number, speed: number): number {
  return Math.max(Math.min(ms, shortestTimeoutMs), Math.round(ms / speed));
}

/** How long a worker waits for those that it talks to, divided by the speed as far as that makes sense. */
export function workerTimeouts({ speed, shutdownGrace }: WorkerOptions): WorkerTimeouts {
  return {
    kubernetesRequestMs: timeoutMs(kubernetesRequestMs, speed),
    armRequestMs: timeoutMs(armRequestMs, speed),
    stickyQueueMs: timeoutMs(stickyQueueMs, speed),
    shutdownGraceMs: timeoutMs(shutdownGrace, speed),
  };
}

/** How long a worker leaves ARM alone after a 429, divided by the speed. */
export function armThrottle({ pollInterval, pollDelayMax, throttleMax, speed }: WorkerOptions): ThrottleBounds {
  return { firstMs: pollInterval / speed, lastMs: pollDelayMax / speed, longestMs: throttleMax / speed };
}

/** Shortest wait between two looks, whatever the speed: faster ones cost more than they tell. */
const shortestWaitMs = 100;

/** The settings of activities and workflows, with every duration divided by the speed. */
export function activitySettings(options: WorkerOptions): ActivitySettings {
  const scaled = (ms: number): number => Math.max(1, Math.round(ms / options.speed));
  return {
    rollout: {
      quietMs: scaled(options.quiet),
      childCheckMs: scaled(options.childCheck),
      lookAgainMs: scaled(options.lookAgain),
      backoffMs: scaled(options.backoff),
      backoffMaxMs: scaled(options.backoffMax),
      haltAfterFailures: options.haltAfterFailures,
    },
    replacement: {
      launchTimeoutMs: scaled(options.launchTimeout),
      registrationTtlMs: scaled(options.registrationTtl),
      initializeTimeoutMs: scaled(options.initializeTimeout),
      drainTimeoutMs: scaled(options.drainTimeout),
      detachTimeoutMs: scaled(options.detachTimeout),
      deleteTimeoutMs: scaled(options.deleteTimeout),
      // An attempt makes several requests, one after the other.
      attemptTimeoutMs: Math.max(2 * shortestTimeoutMs, scaled(attemptMs)),
      waitIntervalMs: Math.max(shortestWaitMs, scaled(options.waitInterval)),
      pollIntervalMs: scaled(options.pollInterval),
    },
    candidates: {
      expiryLeadMs: scaled(options.expiryLead),
      justStartedMs: scaled(options.justStarted),
      flapMs: scaled(options.flap),
    },
    maxDisruptedNodes: options.maxDisruptedNodes,
    maxLaunchAttempts: options.maxLaunchAttempts,
    pollDelayMinMs: scaled(options.pollDelayMin),
    pollDelayMaxMs: scaled(options.pollDelayMax),
  };
}
