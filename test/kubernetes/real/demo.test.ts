import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';

import type { KubernetesApi } from '../../../activities/kubernetes/kubernetesApi.js';
import { createKubernetesApi } from '../../../activities/kubernetes/kubernetesApi.js';
import { nodeClaimCollection } from '../../../activities/kubernetes/nodeClaims.js';
import type { ControlPlane } from '../../../demo/controlPlane/controlPlane.js';
import { startControlPlane } from '../../../demo/controlPlane/controlPlane.js';
import { eventually } from '../../support/eventually.js';
import { driftlessPath, runDriftless } from '../../unit/driftlessProcess.js';
import { controlPlaneIn } from '../server/controlPlaneVariable.js';

const runTimeoutMs = 240_000;
const namesSchema = z.object({ items: z.array(z.object({ metadata: z.object({ name: z.string() }) })) });

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'driftless-demo-test-'));
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

async function replay(...flags: readonly string[]) {
  const path = join(folder, 'report.json');
  const ended = await runDriftless(['demo', '--report', path, ...flags], {}, runTimeoutMs);
  expect(ended).toMatchObject({ exitCode: 0, stderr: '' });
  const report: unknown = JSON.parse(readFileSync(path, 'utf8'));
  return { stdout: ended.stdout, report };
}

const asReported = {
  nodes: 10,
  replaced: 10,
  failed: 0,
  maxInFlight: 5,
  maxDisrupted: 5,
  podMoves: { evicted: 10, movedTwice: 0 },
  orphans: { vms: 0, nics: 0, nodeClaims: 0, taints: 0 },
};

describe('the demo on a real control plane of its own', () => {
  it(
    'replays the reported case: all ten replaced, five at once, nothing left behind',
    async () => {
      expect((await replay('--cluster', 'real')).report).toMatchObject(asReported);
    },
    runTimeoutMs,
  );
});

describe('the demo on a cluster that is there already', () => {
  let cluster: ControlPlane;
  let api: KubernetesApi;
  let flags: readonly string[];

  beforeAll(async () => {
    const shared = controlPlaneIn(process.env);
    if (shared === undefined) throw new Error('no control plane: these tests run by npm run test:kubernetes');
    // Whole but for Nodes, and without Karpenter.
    cluster = await startControlPlane(shared.binaries, [], { controllers: ['*'], withScheduler: true });
    api = createKubernetesApi(cluster.kubeConfig, 'demo-test');
    flags = ['--kubeconfig', cluster.kubeConfigPath];
  }, 120_000);

  afterAll(() => cluster.stop());

  /** All that the demo could have left, but for Events, which expire. */
  async function objects(): Promise<readonly string[]> {
    const crds = { group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions' };
    const lists: readonly unknown[] = await Promise.all([
      api.core.listNode(),
      api.core.listPodForAllNamespaces(),
      api.core.listSecretForAllNamespaces(),
      api.core.listNamespacedConfigMap({ namespace: 'kube-system', fieldSelector: 'metadata.name!=kube-root-ca.crt' }),
      api.apps.listDeploymentForAllNamespaces(),
      api.apps.listReplicaSetForAllNamespaces(),
      api.custom.listClusterCustomObject(crds),
    ]);
    return lists.flatMap((list) => namesSchema.parse(list).items.map(({ metadata }) => metadata.name));
  }

  it(
    'replays the reported case, judged by watches, and leaves the cluster as it was',
    async () => {
      const before = await objects();
      expect((await replay(...flags)).report).toMatchObject(asReported);
      await eventually(async () => {
        expect(await objects()).toEqual(before);
      });
    },
    runTimeoutMs,
  );

  it(
    'removes first what a run has left that was killed',
    async () => {
      const before = await objects();
      const killed = spawn(process.execPath, [driftlessPath, 'demo', '--nodes', '3', ...flags], { stdio: 'ignore' });
      await eventually(async () => {
        expect((await nodeClaimCollection.list(api)).items).toHaveLength(3);
      }, 60_000);
      killed.kill('SIGKILL');
      await once(killed, 'exit');
      const { report, stdout } = await replay('--nodes', '2', ...flags);
      expect(stdout).toContain('Removing what an earlier run has left');
      expect(report).toMatchObject({ nodes: 2, replaced: 2, orphans: asReported.orphans });
      await eventually(async () => {
        expect(await objects()).toEqual(before);
      });
    },
    runTimeoutMs,
  );

  it('refuses a cluster with a Node that it has not made, and changes nothing there', async () => {
    await api.core.createNode({ body: { metadata: { name: 'somebodys' } } });
    const before = await objects();
    const { exitCode, stderr } = await runDriftless(['demo', ...flags]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`--kubeconfig ${cluster.kubeConfigPath}: the cluster has Node somebodys, which the demo`);
    expect(await objects()).toEqual(before);
  });
});
