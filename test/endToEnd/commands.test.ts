import { ComputeManagementClient } from '@azure/arm-compute';
import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, describe, expect, it } from '@jest/globals';
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';

import { readClusterId } from '../../activities/kubernetes/cluster.js';
import { createKubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';

interface Running {
  readonly child: ChildProcess;
  readonly stdout: () => string;
}

function start(...flags: string[]): Running {
  const child = spawn(process.execPath, ['dist/bin/driftless.js', ...flags], {
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (more: string) => {
    text += more;
  });
  return { child, stdout: () => text };
}

/** The value that a command prints beside a name, as soon as it does. */
async function printed({ child, stdout }: Running, name: string): Promise<string> {
  for (;;) {
    const value = new RegExp(`^${name} +(\\S+)$`, 'm').exec(stdout())?.[1];
    if (value !== undefined) return value;
    if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}: ${stdout()}`);
    if (child.stdout !== null) await once(child.stdout, 'data');
  }
}

async function interrupt({ child }: Running): Promise<number | null> {
  const exited = once(child, 'exit');
  child.kill('SIGINT');
  await exited;
  return child.exitCode;
}

describe('driftless simulate', () => {
  it('azure: prints what the Azure SDK needs to use it, and ends on Ctrl-C', async () => {
    const simulator = start('simulate', 'azure', '--speed', '50');
    const [endpoint, ca, token] = [
      await printed(simulator, 'endpoint'),
      await printed(simulator, 'CA'),
      await printed(simulator, 'token'),
    ];
    const [subscription, group] = [await printed(simulator, 'subscription'), await printed(simulator, 'group')];
    const bearer = readFileSync(token, 'utf8');
    const credential = {
      getToken: () => Promise.resolve({ token: bearer, expiresOnTimestamp: Date.now() + 3_600_000 }),
    };
    const client = new ComputeManagementClient(credential, subscription, {
      endpoint,
      tlsOptions: { ca: readFileSync(ca, 'utf8') },
    });
    const machines = [];
    for await (const machine of client.virtualMachines.list(group)) machines.push(machine);
    expect(machines).toEqual([]);
    expect(await interrupt(simulator)).toBe(0);
    expect(existsSync(ca)).toBe(false);
  });

  it('cluster: prints a kubeconfig that works, and ends on Ctrl-C', async () => {
    const simulator = start('simulate', 'cluster');
    const path = await printed(simulator, 'kubeconfig');
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromFile(path);
    expect(await readClusterId(createKubernetesApi(kubeConfig, 'test'))).toMatch(/^[0-9a-f-]{36}$/);
    expect(await interrupt(simulator)).toBe(0);
    expect(existsSync(path)).toBe(false);
  });
});

const reportSchema = z.strictObject({
  nodePool: z.literal('general-purpose'),
  budget: z.literal(2),
  nodes: z.literal(4),
  replaced: z.literal(4),
  failed: z.literal(0),
  maxInFlight: z.literal(2),
  maxDisrupted: z.literal(2),
  createSecondsMax: z.number().positive(),
  makespanSeconds: z.number().positive(),
  lowerBoundSeconds: z.literal(30),
  efficiency: z.number().gt(0).lte(1),
  launchFailures: z.tuple([]),
  timeline: z
    .array(z.strictObject({ t: z.number(), inFlight: z.number(), disrupted: z.number(), replaced: z.number() }))
    .min(5),
  podMoves: z.strictObject({ evicted: z.literal(4), movedTwice: z.literal(0), pendingPodSeconds: z.number() }),
  orphans: z.strictObject({ vms: z.literal(0), nics: z.literal(0), nodeClaims: z.literal(0), taints: z.literal(0) }),
  temporal: z.strictObject({
    historyEventsPerReplacement: z.number().positive(),
    actionsPerReplacement: z.number().positive(),
  }),
  kubernetes: z.strictObject({
    workerRequestsPerReplacement: z.number().positive(),
    watcherRequestsPerReplacement: z.number(),
  }),
  wallSeconds: z.number().positive(),
});

describe('driftless demo', () => {
  const folder = mkdtempSync(join(tmpdir(), 'driftless-test-'));
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  it('runs to its end, tells how it went, and writes the report', async () => {
    const file = join(folder, 'report.json');
    const durations = ['--vm-create', '6s', '--node-boot', '6s', '--pod-termination', '3s', '--vm-delete', '4s'];
    const demo = start('demo', '--nodes', '4', '--budget', '2', '--speed', '10', '--report', file, ...durations);
    await once(demo.child, 'exit');
    expect(demo.child.exitCode).toBe(0);
    expect(demo.stdout()).toContain('replaced                 4 of 4');
    expect(
      Math.max(
        ...demo
          .stdout()
          .split('\n')
          .map((line) => line.length),
      ),
    ).toBeLessThanOrEqual(80);
    expect(reportSchema.parse(JSON.parse(readFileSync(file, 'utf8')))).toBeDefined();
  });

  it('ends everything that it started on Ctrl-C', async () => {
    const demo = start('demo', '--keep');
    const url = await printed(demo, 'Temporal UI');
    expect((await fetch(url)).ok).toBe(true);
    expect(await interrupt(demo)).toBe(130);
    await expect(fetch(url)).rejects.toThrow();
  });
});
