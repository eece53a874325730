import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';

import { mergePatch } from '../../activities/kubernetes/kubernetesApi.js';
import { listNodeClaims } from '../../activities/kubernetes/nodeClaims.js';
import { nodePoolName } from '../../demo/scenario.js';
import { until } from '../../demo/until.js';
import type { NodeClaim } from '../../karpenter/api.js';
import { conditionTypes, getCondition } from '../../karpenter/conditions.js';
import { replaceAnnotation } from '../../karpenter/labels.js';
import { replaceNodeWorkflowId, rolloutWorkflowId } from '../../workflows/ids.js';
import type { nodePoolRollout } from '../../workflows/nodePoolRollout.js';
import { searchAttributes } from '../../workflows/searchAttributes.js';
import type { Ended } from '../unit/driftlessProcess.js';
import { runDriftless } from '../unit/driftlessProcess.js';
import { readBootstrap, writeBootstrap } from './bootstrapSecret.js';
import { historyOfNodeClaim, prematureEvictions, putNames } from './auditQuestions.js';
import type { ReportedCaseRun } from './reportedCaseRun.js';
import { prepareReportedCase } from './reportedCaseRun.js';

/** Runs the command as a person does, beside the running services; Temporal is the tests' own. */
function driftless({ stack }: ReportedCaseRun, ...args: readonly string[]): Promise<Ended> {
  const temporal = Object.entries(process.env).filter(([name]) => name.startsWith('TEMPORAL_'));
  return runDriftless(args, { ...Object.fromEntries(temporal), KUBECONFIG: stack.files.kubeConfig });
}

async function answerOf(run: ReportedCaseRun, ...args: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await driftless(run, ...args);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  return stdout.replaceAll(/\s+/g, ' ').trim();
}

const running = z.object({
  nodePools: z.tuple([
    z.object({
      nodePool: z.literal(nodePoolName),
      rollout: z.object({
        kind: z.literal('running'),
        status: z.object({
          inFlight: z.array(z.string()),
          paused: z.object({ by: z.string(), why: z.string() }).nullable(),
          skipped: z.array(z.object({ nodeClaim: z.string() })),
          failures: z.array(z.object({ nodeClaim: z.string(), code: z.string(), held: z.boolean() })),
          replaced: z.array(z.object({ nodeClaim: z.string() })),
        }),
      }),
    }),
  ]),
});

async function statusOf(run: ReportedCaseRun) {
  const { stdout } = await driftless(run, 'status', '-o', 'json');
  return running.parse(JSON.parse(stdout)).nodePools[0].rollout.status;
}

describe('a node that a person wants replaced', () => {
  let run: ReportedCaseRun;
  let nodeClaims: readonly NodeClaim[];

  beforeAll(async () => {
    run = await prepareReportedCase({ nodes: 3, budget: '1', speed: 40 });
    nodeClaims = await listNodeClaims(run.api, nodePoolName);
  }, 60_000);

  afterAll(() => run.stop());

  /** The one that was asked for has been replaced, and no other; its reason stands where people look. */
  async function checkReplaced(asked: NodeClaim | undefined, text: string): Promise<void> {
    if (asked === undefined) throw new Error('no NodeClaim');
    const { name, uid } = asked.metadata;
    const { clusterId, cluster } = run.stack;
    const rollout = run.workflows.getHandle<typeof nodePoolRollout>(rolloutWorkflowId(clusterId, nodePoolName));
    await until(`${name} is replaced`, 90_000, async () => {
      const names = (await listNodeClaims(run.api, nodePoolName)).map(({ metadata }) => metadata.name);
      return names.includes(name) ? undefined : true;
    });
    expect(await rollout.result()).toMatchObject({
      replaced: [{ nodeClaim: name, reason: 'Manual', reasonDetail: text }],
      failures: [],
    });
    const reasons = historyOfNodeClaim(cluster, name).map((state) =>
      getCondition(state, conditionTypes.disruptionReason),
    );
    expect(reasons).toContainEqual(
      expect.objectContaining({ status: 'True', reason: 'Manual', message: expect.stringContaining(text) }),
    );
    const description = await run.workflows.getHandle(replaceNodeWorkflowId(clusterId, name, uid)).describe();
    expect(await description.staticSummary()).toBe(`Replace ${name} (Manual: ${text})`);
    expect(description.typedSearchAttributes.get(searchAttributes.disruptionReason)).toBe('Manual');
    expect(prematureEvictions(cluster)).toEqual([]);
  }

  it('is replaced, and no other, by the command', async () => {
    const asked = nodeClaims[0];
    const answer = await answerOf(run, 'replace', asked?.metadata.name ?? '', '--reason', 'its disk is slow');
    expect(answer).toContain('is to be replaced (Manual: its disk is slow)');
    await checkReplaced(asked, 'its disk is slow');
    expect(putNames(run.stack.azure)).toHaveLength(1);
  }, 120_000);

  it('is replaced, and no other, by the annotation', async () => {
    const asked = nodeClaims[1];
    await run.api.custom.patchClusterCustomObject(
      {
        group: 'karpenter.sh',
        version: 'v1',
        plural: 'nodeclaims',
        name: asked?.metadata.name ?? '',
        body: { metadata: { annotations: { [replaceAnnotation]: 'noisy neighbour' } } },
      },
      mergePatch,
    );
    await checkReplaced(asked, 'noisy neighbour');
    expect(putNames(run.stack.azure)).toHaveLength(2);
    const left = (await listNodeClaims(run.api, nodePoolName)).map(({ metadata }) => metadata.name);
    expect(left).toContain(nodeClaims[2]?.metadata.name);
    const status = await answerOf(run, 'status');
    expect(status).toMatch(/^NodePool general-purpose: no rollout runs; the last one ended as COMPLETED at .*Z\.$/);
  }, 120_000);
});

describe('people at a running rollout', () => {
  let run: ReportedCaseRun;
  let bootstrap: string;
  const asker = ['--by', 'ana', '--why', 'a rehearsal'];

  beforeAll(async () => {
    run = await prepareReportedCase({
      nodes: 3,
      budget: '1',
      speed: 20,
      // What never registers is under way for as long as the story needs.
      workerFlags: ['--registration-ttl', '2h', '--initialize-timeout', '2h'],
    });
    bootstrap = await readBootstrap(run.api);
    await writeBootstrap(run.api, 'KUBELET_REGISTER_WITH_TAINTS=this is no taint');
  }, 60_000);

  afterAll(() => run.stop());

  it('pause, skip, cancel, resume and retry it by the command, and see that in its status', async () => {
    const names = (await listNodeClaims(run.api, nodePoolName)).map(({ metadata }) => metadata.name).sort();
    expect(await driftless(run, 'cancel', nodePoolName, ...asker)).toMatchObject({
      exitCode: 0,
      stdout: 'NodePool general-purpose: no rollout runs, there is nothing to cancel.\n',
    });
    expect(await answerOf(run, 'status', nodePoolName)).toContain('no rollout runs, and none is on record');

    // Paused before its first candidate comes: nothing may start.
    expect(await answerOf(run, 'pause', nodePoolName, ...asker)).toContain('is paused: nothing starts any more');
    await run.drift();
    const skipped = names[2] ?? '';
    expect(await answerOf(run, 'skip', nodePoolName, skipped, '--for', '1h', ...asker)).toContain(
      'is left alone until',
    );
    expect(await driftless(run, 'skip', nodePoolName, 'nobody', '--for', '1h', ...asker)).toEqual({
      exitCode: 1,
      signal: null,
      stdout: '',
      stderr: 'driftless: NodePool general-purpose has no NodeClaim nobody\n',
    });
    const text = await answerOf(run, 'status', nodePoolName);
    expect(text).toContain('Paused by ana since');
    expect(text).toContain(`${skipped} Skipped until`);
    expect(await statusOf(run)).toMatchObject({
      inFlight: [],
      paused: { by: 'ana', why: 'a rehearsal' },
      skipped: [{ nodeClaim: skipped }],
    });
    expect(putNames(run.stack.azure)).toEqual([]);

    expect(await answerOf(run, 'resume', nodePoolName, ...asker)).toBe('NodePool general-purpose goes on.');
    expect((await driftless(run, 'resume', nodePoolName, ...asker)).stderr).toBe(
      'driftless: the rollout of NodePool general-purpose is not paused\n',
    );
    await until('a VM is asked for', 30_000, () =>
      Promise.resolve(putNames(run.stack.azure).length > 0 ? true : undefined),
    );
    // Nobody comes after the one that is canceled, so that the next question has one answer.
    await answerOf(run, 'pause', nodePoolName, ...asker);
    const [first = ''] = (await statusOf(run)).inFlight;
    expect(first).not.toBe(skipped);
    expect(await answerOf(run, 'cancel', nodePoolName, first, ...asker)).toContain(
      `before "driftless retry": ${first}.`,
    );
    await until('it is undone', 30_000, async () => ((await statusOf(run)).failures.length === 1 ? true : undefined));
    expect(await statusOf(run)).toMatchObject({
      inFlight: [],
      replaced: [],
      failures: [{ nodeClaim: first, code: 'Canceled', held: true }],
    });
    expect(run.stack.azure.virtualMachines()).toHaveLength(3);

    await writeBootstrap(run.api, bootstrap);
    expect(await answerOf(run, 'retry', nodePoolName, first, ...asker)).toContain(`a permit is free: ${first}.`);
    expect(await answerOf(run, 'retry', nodePoolName, skipped)).toContain(`a permit is free: ${skipped}.`);
    await answerOf(run, 'resume', nodePoolName, ...asker);
    expect(await run.untilRest()).toEqual({ kind: 'completed' });
    const report = await run.report();
    expect(report).toMatchObject({ replaced: 3, failed: 0, maxDisrupted: 1 });
    expect(report.orphans).toEqual({ vms: 0, nics: 0, nodeClaims: 0, taints: 0 });
  }, 240_000);
});
