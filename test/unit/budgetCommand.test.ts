import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createKubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';
import { startClusterSimulator } from '../../simulator/cluster/clusterSimulator.js';
import { runDriftless } from './driftlessProcess.js';

function nodePoolOf(budgets: object[]): object {
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name: 'default' },
    spec: {
      disruption: { budgets },
      template: {
        spec: {
          nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' },
          requirements: [],
        },
      },
    },
  };
}

const windowed = nodePoolOf([
  { nodes: '20%', reasons: ['Empty', 'Drifted'] },
  { nodes: '5' },
  { nodes: '0', schedule: '0 9 * * mon-fri', duration: '8h' },
]);

describe('driftless budget', () => {
  const folder = mkdtempSync(join(tmpdir(), 'driftless-test-'));
  const fileOf = (name: string, content: object | string): string => {
    const path = join(folder, name);
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };

  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  it('answers from a file, without a cluster: what is allowed, which budget binds, when that changes', async () => {
    const file = fileOf('windowed.json', windowed);
    const flags = ['-f', file, '--nodes', '19', '--disrupted', '2', '--at', '2026-11-30T08:00:00Z', '-o', 'json'];
    const ended = await runDriftless(['budget', ...flags]);
    expect(ended.exitCode).toBe(0);
    expect(JSON.parse(ended.stdout)).toEqual({
      nodePool: 'default',
      at: '2026-11-30T08:00:00.000Z',
      nodes: 19,
      disrupted: 2,
      reasons: [
        {
          reason: 'Drifted',
          allowed: 4,
          available: 2,
          bindingBudget: 0,
          activeBudgets: [0, 1],
          nextChange: '2026-11-30T09:00:00.000Z',
        },
        {
          reason: 'Underutilized',
          allowed: 5,
          available: 3,
          bindingBudget: 1,
          activeBudgets: [1],
          nextChange: '2026-11-30T09:00:00.000Z',
        },
        {
          reason: 'Empty',
          allowed: 4,
          available: 2,
          bindingBudget: 0,
          activeBudgets: [0, 1],
          nextChange: '2026-11-30T09:00:00.000Z',
        },
      ],
      errors: [],
    });
  });

  it('ends with 1 when a budget is invalid, names it, and answers all the same', async () => {
    const file = fileOf('invalid.json', nodePoolOf([{ nodes: '5', schedule: '0 9 * * mon-fry', duration: '8h' }]));
    const ended = await runDriftless(['budget', '-f', file, '--nodes', '10', '--reason', 'Drifted', '-o', 'json']);
    expect(ended.exitCode).toBe(1);
    expect(JSON.parse(ended.stdout)).toMatchObject({
      reasons: [{ reason: 'Drifted', allowed: 0, available: 0 }],
      errors: [{ index: 0, field: 'schedule', text: '0 9 * * mon-fry' }],
    });
    expect(ended.stderr).toMatch(/^NodePool default: spec\.disruption\.budgets\[0\]\.schedule "0 9 \* \* mon-fry": /);
  });

  it.each([
    ['a file that is not there', ['-f', '/nowhere/pool.yaml', '--nodes', '1'], /--file \/nowhere\/pool\.yaml: ENOENT/],
    ['no nodes to reckon with', ['-f', '/nowhere/pool.yaml'], /--file needs --nodes/],
    ['neither name nor file', [], /give the name of a NodePool, or --file/],
  ])('says in one line what is wrong: %s', async (_, flags, message) => {
    const ended = await runDriftless(['budget', ...flags]);
    expect(ended.exitCode).toBe(1);
    expect(ended.stderr).toMatch(message);
    expect(ended.stderr.trim().split('\n')).toHaveLength(1);
  });

  describe('of a cluster', () => {
    let environment: NodeJS.ProcessEnv;
    let close: () => Promise<void>;

    beforeAll(async () => {
      const cluster = await startClusterSimulator({ token: 'secret' });
      close = () => cluster.close();
      environment = { KUBECONFIG: fileOf('kubeconfig', cluster.kubeConfigYaml()) };
      const kubeConfig = new KubeConfig();
      kubeConfig.loadFromString(cluster.kubeConfigYaml());
      const { custom } = createKubernetesApi(kubeConfig, 'test');
      await custom.createClusterCustomObject({
        group: 'karpenter.sh',
        version: 'v1',
        plural: 'nodepools',
        body: windowed,
      });
    });

    afterAll(() => close());

    it('counts the live pool', async () => {
      const ended = await runDriftless(['budget', 'default', '--reason', 'Underutilized'], environment);
      expect(ended.exitCode).toBe(0);
      expect(ended.stdout).toContain('0 nodes, 0 disrupted');
    });

    it('says that a NodePool does not exist', async () => {
      const ended = await runDriftless(['budget', 'nobody'], environment);
      expect(ended).toMatchObject({ exitCode: 1, stderr: 'driftless: NodePool nobody does not exist\n' });
    });
  });
});
