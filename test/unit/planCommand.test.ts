import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { nodeClaimSubject, recordEvent } from '../../activities/kubernetes/events.js';
import type { KubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';
import { createKubernetesApi, mergePatch } from '../../activities/kubernetes/kubernetesApi.js';
import { createNodeClaim, updateNodeClaimStatus } from '../../activities/kubernetes/nodeClaims.js';
import type { Machine } from '../../karpenter/pool.js';
import { startClusterSimulator } from '../../simulator/cluster/clusterSimulator.js';
import type { Ended } from './driftlessProcess.js';
import { runDriftless } from './driftlessProcess.js';
import { isTrueSince, machineOf, machinesOf, nodePoolOf, poolName } from './poolFixture.js';

const folder = mkdtempSync(join(tmpdir(), 'driftless-test-'));
const workflow = 'replace/cluster/general-purpose-old/uid';
const driftedSince = '2026-01-05T11:00:00Z';
const offering = { instanceType: 'Standard_D2as_v5', zone: 'westus2-1', capacityType: 'on-demand' };
const drifted = { driftedSince, offering, capacity: { cpu: '2' } };
const at = '2026-01-05T12:00:00Z';

async function createMachine(api: KubernetesApi, { nodeClaim, node }: Machine): Promise<void> {
  const { name, labels, annotations } = nodeClaim.metadata;
  const created = await createNodeClaim(api, name, {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name, labels, annotations },
    spec: nodeClaim.spec,
  });
  await updateNodeClaimStatus(api, name, created.metadata.uid, () => nodeClaim.status);
  if (node === undefined) return;
  const { metadata, status } = node;
  await api.core.createNode({
    body: { metadata: { name: metadata.name, ...(metadata.labels && { labels: metadata.labels }) } },
  });
  const body = { status: { conditions: status?.conditions } };
  await api.core.patchNodeStatus({ name: metadata.name, body }, mergePatch);
}

/** Three drifted nodes, one being replaced, and nodes that are nobody's business. */
async function buildCluster(api: KubernetesApi): Promise<void> {
  const pool = { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', ...nodePoolOf({ budgets: [{ nodes: '2' }] }) };
  await api.custom.createClusterCustomObject({
    group: 'karpenter.sh',
    version: 'v1',
    plural: 'nodepools',
    body: { ...pool, metadata: { name: poolName, annotations: pool.metadata.annotations } },
  });
  await api.custom.createClusterCustomObject({
    group: 'karpenter.azure.com',
    version: 'v1beta1',
    plural: 'aksnodeclasses',
    body: { apiVersion: 'karpenter.azure.com/v1beta1', kind: 'AKSNodeClass', metadata: { name: 'default' }, spec: {} },
  });
  for (const machine of machinesOf('n', 3, drifted)) await createMachine(api, machine);
  const old = await createNodeClaim(api, 'old', {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name: 'old', labels: { 'karpenter.sh/nodepool': poolName } },
    spec: machineOf('old').nodeClaim.spec,
  });
  await updateNodeClaimStatus(api, 'old', old.metadata.uid, () => ({
    nodeName: 'aks-old',
    conditions: [isTrueSince('Drifted', driftedSince)],
  }));
  await api.core.createNode({
    body: {
      metadata: {
        name: 'aks-old',
        labels: { 'karpenter.sh/nodepool': poolName, 'karpenter.sh/initialized': 'true' },
        annotations: { 'driftless.dev/workflow': workflow },
      },
      spec: { taints: [{ key: 'karpenter.sh/disrupted', effect: 'NoSchedule' }] },
    },
  });
  await createMachine(api, machineOf('new', { hasNode: false, replaces: old.metadata.uid }));
  await recordEvent(
    api,
    nodeClaimSubject('old', old.metadata.uid),
    'Warning',
    'ReplacementLaunchFailed',
    'no capacity',
  );
  await api.core.createNode({ body: { metadata: { name: 'system-0' } } });
}

function widest(text: string): number {
  return Math.max(...text.split('\n').map((line) => line.length));
}

describe('of a cluster without Temporal', () => {
  let run: (...args: readonly string[]) => Promise<Ended>;
  let close: () => Promise<void>;

  beforeAll(async () => {
    const cluster = await startClusterSimulator({ token: 'secret' });
    close = () => cluster.close();
    const path = join(folder, 'kubeconfig');
    writeFileSync(path, cluster.kubeConfigYaml());
    run = (...args) => runDriftless(args, { KUBECONFIG: path });
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromString(cluster.kubeConfigYaml());
    await buildCluster(createKubernetesApi(kubeConfig, 'test'));
  });

  afterAll(async () => {
    await close();
    rmSync(folder, { recursive: true });
  });

  it('driftless plan answers in JSON', async () => {
    const ended = await run('plan', poolName, '--at', at, '-o', 'json');
    expect({ stderr: ended.stderr, exitCode: ended.exitCode }).toEqual({ stderr: '', exitCode: 0 });
    expect(JSON.parse(ended.stdout)).toMatchObject({
      nodePool: poolName,
      at: '2026-01-05T12:00:00.000Z',
      closed: null,
      nodes: 4,
      disrupted: ['old'],
      allowances: [{ reason: 'Drifted', allowed: 2 }],
      durations: { initialize: { seconds: 180, seen: 0 } },
      underWay: [{ nodeClaim: 'old', phase: 'Launch', replacement: 'new' }],
      waves: [
        {
          wave: 1,
          startsAt: '2026-01-05T12:00:00.000Z',
          // Empty: it goes without a replacement.
          nodes: [{ order: 1, nodeClaim: 'n-0', isEmpty: true, before: offering, after: null, vcpus: 0 }],
        },
        { wave: 2, nodes: [{ nodeClaim: 'n-1' }] },
        { wave: 3, nodes: [{ nodeClaim: 'n-2' }] },
      ],
      blocked: [],
      unplanned: null,
    });
  });

  it('driftless plan answers people in 80 columns', async () => {
    const { stdout, exitCode } = await run('plan', poolName);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^NodePool general-purpose at .*: 4 nodes, 1 disrupted\nplan {7}3 to replace in 3 waves/);
    expect(stdout).toMatch(/^1 {2}n-0 {8}Drifted {2}Standard_D2as_v5 {2}westus2-1 {2}none$/m);
    expect(widest(stdout)).toBeLessThanOrEqual(80);
  });

  it('driftless why answers about a NodeClaim, and with the Events about it', async () => {
    const ended = await run('why', 'old', '-o', 'json');
    expect(JSON.parse(ended.stdout)).toMatchObject({
      nodePool: poolName,
      nodeClaim: 'old',
      node: 'aks-old',
      answer: { kind: 'replacing', phase: 'Launch', replacement: { nodeClaim: 'new' }, workflowId: workflow },
      events: [{ nodeClaim: 'old', type: 'Warning', reason: 'ReplacementLaunchFailed', message: 'no capacity' }],
    });
  });

  it('driftless why answers about a Node, for people in 80 columns', async () => {
    const { stdout, exitCode } = await run('why', 'aks-n-2');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(
      /^NodeClaim n-2, Node aks-n-2, NodePool general-purpose\nIt waits for a permit: place 2 of 2\./,
    );
    expect(stdout).toMatch(/^held by {4}old \(phase Launch\)$/m);
    expect(widest(stdout)).toBeLessThanOrEqual(80);
  });

  it.each<[string, readonly string[], string | RegExp]>([
    ['a Node without a NodeClaim', ['system-0'], 'Node system-0\nIt has no NodeClaim: '],
    ['a cap that other pools leave room under', ['n-0', '--max-disrupted-nodes', '1'], /the cluster-wide cap leaves 1/],
  ])('driftless why answers for %s', async (_, args, says) => {
    const ended = await run('why', ...args);
    expect(ended).toMatchObject({ exitCode: 0, stderr: '' });
    expect(ended.stdout).toMatch(says);
  });

  it.each<[readonly string[], string]>([
    [['plan', 'nobody'], 'driftless: NodePool nobody does not exist\n'],
    [['why', 'nobody'], 'driftless: there is no NodeClaim and no Node nobody\n'],
    [
      ['plan', poolName, '--at', 'noon'],
      "error: option '--at <instant>' argument 'noon' is invalid. It must be an instant",
    ],
  ])('%j says in one line what is wrong', async (args, says) => {
    const ended = await run(...args);
    expect(ended).toMatchObject({ exitCode: 1, stdout: '' });
    expect(ended.stderr.startsWith(says)).toBe(true);
    expect(ended.stderr.trim().split('\n')).toHaveLength(1);
  });

  it('says in one line that there is no API server', async () => {
    const path = join(folder, 'kubeconfig-of-nobody');
    const cluster = { name: 'c', cluster: { server: 'https://127.0.0.1:1' } };
    const context = { name: 'c', context: { cluster: 'c', user: 'u' } };
    const config = {
      clusters: [cluster],
      contexts: [context],
      users: [{ name: 'u', user: {} }],
      'current-context': 'c',
    };
    writeFileSync(path, JSON.stringify(config));
    const ended = await runDriftless(['plan', poolName], { KUBECONFIG: path });
    expect(ended.exitCode).toBe(1);
    expect(ended.stderr).toMatch(/^driftless: API server https:\/\/127\.0\.0\.1:1: .+\n$/);
  });
});
