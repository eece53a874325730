import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

import { kubeConfigYaml } from '../../../simulator/cluster/kubeConfigYaml.js';
import { eventually } from '../../support/eventually.js';
import type { ConformanceServer } from '../conformance/conformanceServer.js';
import { startConformanceServer, startInMemoryServer } from '../conformance/conformanceServer.js';

const run = promisify(execFile);

const servers = [
  { which: 'the in-memory API server', start: startInMemoryServer },
  { which: 'kube-apiserver', start: startConformanceServer },
];

const nodeClassRef = { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' };

describe.each(servers)('kubectl with $which', ({ start }) => {
  let server: ConformanceServer;
  let folder: string;
  let node: string;

  const commandLine = (words: readonly string[]): string[] => [
    ...['--kubeconfig', join(folder, 'kubeconfig'), '--cache-dir', join(folder, 'cache'), '-n', server.own],
    ...words,
  ];
  const executable = (): string => process.env.KUBECTL ?? 'kubectl';
  const kubectl = async (...words: readonly string[]): Promise<string> =>
    (await run(executable(), commandLine(words))).stdout.trim();
  const fileOf = (name: string, ...objects: readonly object[]): string => {
    const path = join(folder, name);
    writeFileSync(path, objects.map((object) => JSON.stringify(object)).join('\n---\n'));
    return path;
  };
  const cells = (line: string | undefined): readonly string[] => (line ?? '').trim().split(/ {2,}/);
  /** The header, and the row of a name. */
  const table = async (name: string, ...words: readonly string[]) => {
    const lines = (await kubectl(...words)).split('\n');
    return { header: cells(lines[0]), row: cells(lines.find((line) => line.startsWith(`${name} `))) };
  };
  const readNode = async (): Promise<unknown> => JSON.parse(await kubectl('get', 'node', node, '-o', 'json'));

  const createPod = (name: string, labels: Record<string, string> = {}) =>
    server.send('POST', `/api/v1/namespaces/${server.own}/pods`, {
      metadata: { name, labels },
      // No kubelet is there to end it.
      spec: { nodeName: node, terminationGracePeriodSeconds: 0, containers: [{ name: 'main', image: 'app:1' }] },
    });

  beforeAll(async () => {
    server = await start();
    folder = mkdtempSync(join(tmpdir(), 'driftless-kubectl-'));
    writeFileSync(join(folder, 'kubeconfig'), kubeConfigYaml(server.access));
    node = `${server.own}-node`;
    await server.send('POST', '/api/v1/nodes', {
      metadata: { name: node, labels: { 'node-role.kubernetes.io/agent': '' } },
      spec: { providerID: 'azure:///x' },
      status: {
        capacity: { cpu: '4', memory: '16Gi', pods: '110' },
        allocatable: { cpu: '3900m', memory: '15Gi', pods: '110' },
        conditions: [
          { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' },
        ],
        nodeInfo: { kubeletVersion: 'v1.36.0' },
      },
    });
  });

  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('get shows nodes, pods and Karpenter objects in their columns', async () => {
    await createPod('shown');
    expect(await table(node, 'get', 'nodes')).toEqual({
      header: ['NAME', 'STATUS', 'ROLES', 'AGE', 'VERSION'],
      row: [node, 'Ready', 'agent', expect.stringMatching(/^\d+s$/), 'v1.36.0'],
    });
    expect(await table('shown', 'get', 'po', '-o', 'wide')).toEqual({
      header: ['NAME', 'READY', 'STATUS', 'RESTARTS', 'AGE', 'IP', 'NODE', 'NOMINATED NODE', 'READINESS GATES'],
      row: ['shown', '0/1', 'Pending', '0', expect.any(String), '<none>', node, '<none>', '<none>'],
    });
    const claim = `${server.own}-shown`;
    const labels = {
      'node.kubernetes.io/instance-type': 'Standard_D4s_v5',
      'karpenter.sh/nodepool': 'general-purpose',
    };
    await server.send('POST', '/apis/karpenter.sh/v1/nodeclaims', {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodeClaim',
      metadata: { name: claim, labels },
      spec: { nodeClassRef, requirements: [] },
    });
    expect(await table(claim, 'get', 'nodeclaims')).toMatchObject({
      header: ['NAME', 'TYPE', 'CAPACITY', 'ZONE', 'NODE', 'READY', 'AGE'],
      row: [claim, 'Standard_D4s_v5', expect.any(String)],
    });
    expect(await kubectl('get', 'nodes', '-l', 'none=such', '-o', 'name')).toBe('');
    await expect(kubectl('get', 'node', 'absent')).rejects.toMatchObject({
      stderr: 'Error from server (NotFound): nodes "absent" not found\n',
    });
  });

  it('get -w follows', async () => {
    await createPod('followed');
    const child = spawn(executable(), commandLine(['get', 'pod', 'followed', '-w', '-L', 'step']), {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const next = async (): Promise<string> => {
      const line = await lines.next();
      return line.done === true ? 'ended' : line.value;
    };
    try {
      expect(await next()).toMatch(/^NAME +READY +STATUS +RESTARTS +AGE +STEP/);
      expect(await next()).toMatch(/^followed +0\/1 +Pending/);
      await kubectl('label', 'pod', 'followed', 'step=one');
      expect(await next()).toMatch(/^followed .* one$/);
    } finally {
      child.kill();
      await once(child, 'exit');
    }
  });

  it('describe tells of a node, its pods and its events', async () => {
    await createPod('described');
    await server.send('POST', '/api/v1/namespaces/default/events', {
      metadata: { name: `${server.own}-event` },
      involvedObject: { kind: 'Node', name: node, uid: node, apiVersion: 'v1' },
      reason: 'Replaced',
      message: 'a replacement is on its way',
      type: 'Normal',
      firstTimestamp: new Date().toISOString(),
      lastTimestamp: new Date().toISOString(),
      count: 1,
      source: { component: 'driftless' },
    });
    const text = await kubectl('describe', 'node', node);
    expect(text).toMatch(/^Name: +\S+-node$/m);
    expect(text).toMatch(/Ready +True .* KubeletReady/);
    expect(text).toMatch(/described +0 \(0%\)/);
    expect(text).toMatch(/Normal +Replaced .* driftless +a replacement is on its way/);
  });

  it('apply creates, changes and leaves alone', async () => {
    const pool = (weight: number) => ({
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodePool',
      metadata: { name: `${server.own}-applied` },
      spec: { weight, template: { spec: { nodeClassRef, requirements: [] } } },
    });
    const map = (value: string) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'applied' },
      data: { key: value },
    });
    const name = `nodepool.karpenter.sh/${server.own}-applied`;
    expect(await kubectl('apply', '-f', fileOf('one.yaml', pool(1), map('a')))).toBe(
      `${name} created\nconfigmap/applied created`,
    );
    const second = fileOf('two.yaml', pool(2), map('b'));
    expect(await kubectl('apply', '-f', second)).toBe(`${name} configured\nconfigmap/applied configured`);
    expect(await kubectl('apply', '-f', second)).toBe(`${name} unchanged\nconfigmap/applied unchanged`);
    expect(await kubectl('get', name, '-o', 'jsonpath={.spec.weight}')).toBe('2');
    const typo = { ...map('a'), dat: {} };
    await expect(kubectl('apply', '-f', fileOf('typo.yaml', typo))).rejects.toMatchObject({
      stderr: expect.stringContaining('strict decoding error: unknown field "dat"'),
    });
    await expect(kubectl('apply', '-f', fileOf('invalid.yaml', pool(0)))).rejects.toMatchObject({
      stderr: expect.stringContaining('spec.weight in body should be greater than or equal to 1'),
    });
  });

  it('patch, label and annotate change what they name', async () => {
    await kubectl('patch', 'node', node, '-p', '{"metadata":{"labels":{"patched":"yes"}}}');
    await kubectl(
      'patch',
      'node',
      node,
      '--type',
      'json',
      '-p',
      '[{"op":"add","path":"/metadata/labels/more","value":"yes"}]',
    );
    await kubectl('annotate', 'node', node, 'driftless.dev/note=one');
    await kubectl('annotate', '--overwrite', 'node', node, 'driftless.dev/note=two');
    await kubectl('label', 'node', node, 'patched-');
    const read = await readNode();
    expect(read).toMatchObject({ metadata: { labels: { more: 'yes' }, annotations: { 'driftless.dev/note': 'two' } } });
    expect(read).not.toHaveProperty('metadata.labels.patched');
  });

  it('taint adds and removes one taint among others', async () => {
    await kubectl('taint', 'node', node, 'driftless.dev/test=yes:NoSchedule', 'driftless.dev/other:NoExecute');
    expect(await readNode()).toMatchObject({
      spec: {
        taints: expect.arrayContaining([
          { key: 'driftless.dev/test', value: 'yes', effect: 'NoSchedule' },
          { key: 'driftless.dev/other', effect: 'NoExecute' },
        ]),
      },
    });
    await kubectl('taint', 'node', node, 'driftless.dev/test-', 'driftless.dev/other-');
    expect(JSON.stringify(await readNode())).not.toContain('driftless.dev/test');
  });

  it('cordon and uncordon', async () => {
    expect(await kubectl('cordon', node)).toBe(`node/${node} cordoned`);
    expect((await table(node, 'get', 'nodes')).row[1]).toBe('Ready,SchedulingDisabled');
    expect(await kubectl('uncordon', node)).toBe(`node/${node} uncordoned`);
    expect(await readNode()).not.toHaveProperty('spec.unschedulable');
  });

  it('drain evicts, and waits for a disruption budget', async () => {
    await createPod('drained');
    await createPod('kept', { app: 'kept' });
    const budgets = `/apis/policy/v1/namespaces/${server.own}/poddisruptionbudgets`;
    const mergePatch = { 'Content-Type': 'application/merge-patch+json' };
    const selector = { matchLabels: { app: 'kept' } };
    await server.send('POST', budgets, { metadata: { name: 'kept' }, spec: { selector, maxUnavailable: 1 } });
    const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    await server.send('PATCH', `/api/v1/namespaces/${server.own}/pods/kept/status`, { status: ready }, mergePatch);
    const allow = (disruptionsAllowed: number) => {
      const numbers = { currentHealthy: 1, desiredHealthy: 1 - disruptionsAllowed, expectedPods: 1 };
      const status = { observedGeneration: 1, disruptionsAllowed, ...numbers };
      return server.send('PATCH', `${budgets}/kept/status`, { status }, mergePatch);
    };
    await allow(0);
    await expect(kubectl('drain', node, '--force', '--timeout', '2s')).rejects.toMatchObject({
      stderr: expect.stringContaining("Cannot evict pod as it would violate the pod's disruption budget."),
    });
    expect(await kubectl('get', 'pods', '-o', 'name')).toBe('pod/kept');
    await allow(1);
    expect(await kubectl('drain', node, '--force')).toContain(`node/${node} drained`);
    expect(await kubectl('get', 'pods', '-o', 'name')).toBe('');
    await kubectl('uncordon', node);
  });

  it('delete waits for finalizers', async () => {
    const map = { metadata: { name: 'finalized', finalizers: ['example.com/hold'] } };
    await server.send('POST', `/api/v1/namespaces/${server.own}/configmaps`, map);
    const deleting = kubectl('delete', 'configmap', 'finalized');
    await eventually(async () => {
      expect(await kubectl('get', 'cm', 'finalized', '-o', 'jsonpath={.metadata.deletionTimestamp}')).not.toBe('');
    });
    await kubectl('patch', 'cm', 'finalized', '--type', 'merge', '-p', '{"metadata":{"finalizers":null}}');
    expect(await deleting).toMatch(/^configmap "finalized" deleted/);
    await expect(kubectl('get', 'cm', 'finalized')).rejects.toMatchObject({
      stderr: expect.stringMatching(/NotFound/),
    });
    expect(await kubectl('delete', 'node', node)).toMatch(new RegExp(`^node "${node}" deleted`));
  });
});
