import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { KubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';
import { createKubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';
import { createNodeClaim, readNodeClaim } from '../../activities/kubernetes/nodeClaims.js';
import { runReplace } from '../../client/cli/runReplace.js';
import { runStatus } from '../../client/cli/runStatus.js';
import {
  cancelUnderWay,
  pauseRollout,
  resumeRollout,
  retryReplacements,
  skipNodeClaim,
} from '../../client/cli/steerRollout.js';
import { managedAnnotation, nodePoolLabel, replaceAnnotation } from '../../karpenter/labels.js';
import { UserError } from '../../runtime/errors.js';
import { startClusterSimulator } from '../../simulator/cluster/clusterSimulator.js';
import { runDriftless } from './driftlessProcess.js';

const ana = { by: 'ana', why: 'x' };
const nodeClassRef = { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' };

let api: KubernetesApi;
let close: () => Promise<void>;
let environment: NodeJS.ProcessEnv;
const folder = mkdtempSync(join(tmpdir(), 'driftless-test-'));

async function createPool(name: string, annotations: Readonly<Record<string, string>>): Promise<void> {
  await api.custom.createClusterCustomObject({
    group: 'karpenter.sh',
    version: 'v1',
    plural: 'nodepools',
    body: {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodePool',
      metadata: { name, annotations },
      spec: { template: { spec: { nodeClassRef, requirements: [] } } },
    },
  });
}

async function createClaim(name: string, labels: Readonly<Record<string, string>>): Promise<void> {
  await createNodeClaim(api, name, {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name, labels },
    spec: { nodeClassRef, requirements: [] },
  });
}

beforeAll(async () => {
  const cluster = await startClusterSimulator({ token: 'secret' });
  close = () => cluster.close();
  const path = join(folder, 'kubeconfig');
  writeFileSync(path, cluster.kubeConfigYaml());
  // Nobody listens there: whatever is refused is refused before anything is sent.
  environment = { KUBECONFIG: path, TEMPORAL_ADDRESS: '127.0.0.1:1' };
  Object.assign(process.env, environment);
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromString(cluster.kubeConfigYaml());
  api = createKubernetesApi(kubeConfig, 'test');
  await createPool('managed', { [managedAnnotation]: 'true' });
  await createPool('left-alone', { [managedAnnotation]: 'yes' });
  await createClaim('managed-1', { [nodePoolLabel]: 'managed' });
  await createClaim('managed-2', { [nodePoolLabel]: 'managed' });
  await createClaim('left-alone-1', { [nodePoolLabel]: 'left-alone' });
  await createClaim('of-nobody', {});
});

afterAll(async () => {
  await close();
  rmSync(folder, { recursive: true });
});

async function annotationOf(name: string): Promise<string | undefined> {
  return (await readNodeClaim(api, name))?.metadata.annotations?.[replaceAnnotation];
}

describe('a person who asks for what cannot be', () => {
  const unknown = 'NodePool nobody does not exist';
  const notManaged = `NodePool left-alone is not annotated ${managedAnnotation}: "true"`;

  it.each<[string, () => Promise<void>, string]>([
    ['status of a NodePool that does not exist', () => runStatus('nobody', { output: 'text' }), unknown],
    ['status of one that is not managed', () => runStatus('left-alone', { output: 'text' }), notManaged],
    ['pause', () => pauseRollout('nobody', ana), unknown],
    ['resume', () => resumeRollout('left-alone', ana), notManaged],
    ['retry', () => retryReplacements('left-alone', undefined, {}), notManaged],
    ['cancel', () => cancelUnderWay('nobody', undefined, ana), unknown],
    ['skip', () => skipNodeClaim('left-alone', 'left-alone-1', Date.now() + 1_000, ana), notManaged],
    ['replace', () => runReplace('nobody', { undo: false }), 'NodeClaim nobody does not exist'],
    ['replace in a NodePool that is not managed', () => runReplace('left-alone-1', { undo: false }), notManaged],
    [
      'replace of what is of no NodePool',
      () => runReplace('of-nobody', { undo: false }),
      `NodeClaim of-nobody has no label ${nodePoolLabel}: it is of no NodePool`,
    ],
    [
      'replace with a reason that would mean no',
      () => runReplace('managed-1', { reason: 'false', undo: false }),
      '--reason false: it must say in words why',
    ],
  ])('is told in one line, before anything is sent: %s', async (_, ask, message) => {
    await expect(ask()).rejects.toEqual(new UserError(message));
  });

  it.each<[readonly string[], string]>([
    [['pause', 'nobody', '--why', 'x'], `driftless: ${unknown}\n`],
    [
      ['skip', 'managed', 'managed-1', '--why', 'x'],
      'driftless: give either --for, such as 2h, or --until, such as 2026-01-05T09:00:00Z\n',
    ],
    [['pause', 'managed'], "error: required option '--why <text>' not specified\n"],
  ])('reads one line: driftless %j', async (args, stderr) => {
    expect(await runDriftless(args, environment)).toEqual({ exitCode: 1, signal: null, stdout: '', stderr });
  });
});

describe('driftless replace', () => {
  it('annotates the NodeClaim, with the reason in words, and says what will happen', async () => {
    const ended = await runDriftless(['replace', 'managed-1', '--reason', 'its disk is slow'], environment);
    expect(ended).toMatchObject({ exitCode: 0, stderr: '' });
    expect(ended.stdout.replaceAll('\n', ' ')).toContain('is to be replaced (Manual: its disk is slow)');
    expect(Math.max(...ended.stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(await annotationOf('managed-1')).toBe('its disk is slow');
  });

  it('takes that back', async () => {
    const written = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    await runReplace('managed-2', { undo: false });
    expect(await annotationOf('managed-2')).toBe('true');
    await runReplace('managed-2', { undo: true });
    expect(await annotationOf('managed-2')).toBeUndefined();
    await runReplace('managed-2', { undo: true });
    expect(written).toHaveBeenLastCalledWith('NodeClaim managed-2 was not asked to be replaced by hand.\n');
    written.mockRestore();
  });
});
