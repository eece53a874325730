import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { freePort } from '../../demo/freePort.js';
import type { ClusterSimulator } from '../../simulator/cluster/clusterSimulator.js';
import { startClusterSimulator } from '../../simulator/cluster/clusterSimulator.js';
import type { Ended } from './driftlessProcess.js';
import { runDriftless } from './driftlessProcess.js';

/** For all runs together: each takes seconds to load, those that look for Temporal wait for it as long as its SDK does. */
const timeoutMs = 90_000;
const runsAtOnce = 4;

const folder = mkdtempSync(join(tmpdir(), 'driftless-unit-'));
const kubeConfig = join(folder, 'kubeconfig');
const kubeConfigOfNobody = join(folder, 'kubeconfig-of-nobody');
const missing = join(folder, 'no-such-folder', 'file');
const enoent = `ENOENT: no such file or directory, open '${missing}'`;
const workerOptions = ['--launcher', 'arm', '--subscription-id', 's', '--resource-group', 'g', '--location', 'westus2'];

interface Run {
  readonly args: readonly string[];
  readonly environment?: NodeJS.ProcessEnv;
}

interface Mistake extends Run {
  /** The whole of what it says. */
  readonly says: string | RegExp;
}

const nobodyListens = { KUBECONFIG: kubeConfig, TEMPORAL_ADDRESS: '127.0.0.1:1' };

/** Those that wait longest first. */
const mistakes: Readonly<Record<string, Mistake>> = {
  'no Temporal at its address, for the watcher': {
    args: ['watcher'],
    environment: nobodyListens,
    says: /^driftless: no Temporal at TEMPORAL_ADDRESS 127\.0\.0\.1:1: .+\n$/,
  },
  'no Temporal at its address, for the worker': {
    args: ['worker', ...workerOptions],
    environment: nobodyListens,
    says: /^driftless: no Temporal at TEMPORAL_ADDRESS 127\.0\.0\.1:1: .+\n$/,
  },
  'no API server where the kubeconfig says': {
    args: ['watcher'],
    environment: { KUBECONFIG: kubeConfigOfNobody },
    says: /^driftless: API server https:\/\/127\.0\.0\.1:\d+: .*ECONNREFUSED.*\n$/,
  },
  'an unknown command': { args: ['frobnicate'], says: "error: unknown command 'frobnicate'\n" },
  'an unknown option': { args: ['watcher', '--frobnicate'], says: "error: unknown option '--frobnicate'\n" },
  'a misspelt option': { args: ['--halp'], says: "error: unknown option '--halp' (Did you mean --help?)\n" },
  'a bad duration': {
    args: ['watcher'],
    environment: { DRIFTLESS_GATHER: 'soon' },
    says: `error: option '--gather <duration>' value 'soon' from env 'DRIFTLESS_GATHER' is invalid. It must be a duration such as 15m, 90s or 500ms.\n`,
  },
  'a missing mandatory option': {
    args: ['worker'],
    says: "error: required option '--launcher <name>' not specified\n",
  },
  'a file of faults that is missing': {
    args: ['simulate', 'azure', '--faults', missing],
    says: `driftless: faults file ${missing}: expected JSON such as {"faults": []}: ${enoent}\n`,
  },
  'a kubeconfig that is missing, for the watcher': {
    args: ['watcher'],
    environment: { KUBECONFIG: missing },
    says: `driftless: KUBECONFIG ${missing}: ${enoent}\n`,
  },
  'a kubeconfig that is missing, for the worker': {
    args: ['worker', ...workerOptions],
    environment: { KUBECONFIG: missing },
    says: `driftless: KUBECONFIG ${missing}: ${enoent}\n`,
  },
  'a budget that lets nothing start': {
    args: ['demo', '--budget', '0'],
    says: "error: option '--budget <n>' argument '0' is invalid. It must be a number such as 5 or a percentage such as 10%.\n",
  },
  'a Temporal CLI that does not exist': {
    args: ['demo'],
    environment: { TEMPORAL_CLI: missing },
    says: `driftless: TEMPORAL_CLI ${missing} is not an executable file: it must be Temporal's CLI\n`,
  },
  'a report into a folder that is missing': {
    args: ['demo', '--report', missing],
    says: `driftless: --report ${missing}: ${enoent}\n`,
  },
};

const helps: Readonly<Record<string, Run & { readonly names: readonly string[] }>> = {
  'of the command': { args: ['--help'], names: ['demo', 'worker', 'watcher', 'simulate'] },
  'of a subcommand': {
    args: ['watcher', '--help'],
    names: ['--gather <duration>', 'default: 250ms', 'DRIFTLESS_GATHER'],
  },
};

/** Runs them all, some at once, since they mostly load or wait. */
async function runAll(runs: Readonly<Record<string, Run>>): Promise<ReadonlyMap<string, Ended>> {
  const queue = Object.entries(runs);
  const ended = new Map<string, Ended>();
  const workThrough = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [name, { args, environment }] = next;
      ended.set(name, await runDriftless(args, environment));
    }
  };
  await Promise.all(Array.from({ length: runsAtOnce }, workThrough));
  return ended;
}

let cluster: ClusterSimulator;
let ended: ReadonlyMap<string, Ended>;

beforeAll(async () => {
  cluster = await startClusterSimulator({ token: 'unit' });
  const nobody = `127.0.0.1:${await freePort()}`;
  writeFileSync(kubeConfig, cluster.kubeConfigYaml());
  writeFileSync(kubeConfigOfNobody, cluster.kubeConfigYaml().replaceAll(new URL(cluster.endpoint).host, nobody));
  ended = await runAll({ ...mistakes, ...helps });
}, timeoutMs);

afterAll(async () => {
  await cluster.close();
  rmSync(folder, { recursive: true });
});

describe('what the person who started it has to put right', () => {
  it.each(Object.entries(mistakes))('%s: exit code 1 and one line that names it', (name, { says }) => {
    expect(ended.get(name)).toEqual({
      exitCode: 1,
      signal: null,
      stdout: '',
      stderr: typeof says === 'string' ? says : expect.stringMatching(says),
    });
    // A stack trace, or the usage, would be further lines.
    expect(ended.get(name)?.stderr.match(/\n/g)).toHaveLength(1);
  });
});

describe('the help', () => {
  it.each(Object.entries(helps))('%s names what there is', (name, { names }) => {
    expect(ended.get(name)).toMatchObject({ exitCode: 0, signal: null, stderr: '' });
    for (const text of names) expect(ended.get(name)?.stdout).toContain(text);
  });
});
