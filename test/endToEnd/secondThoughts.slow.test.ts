import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { mergePatch } from '../../activities/kubernetes/kubernetesApi.js';
import { listNodes } from '../../activities/kubernetes/nodes.js';
import { nodePoolName } from '../../demo/scenario.js';
import { until } from '../../demo/until.js';
import { conditionTypes, getCondition } from '../../karpenter/conditions.js';
import { rolloutWorkflowId } from '../../workflows/ids.js';
import { retryUpdate, statusQuery } from '../../workflows/messages.js';
import type { nodePoolRollout } from '../../workflows/nodePoolRollout.js';
import { historyOfNodeClaim, putNames } from './auditQuestions.js';
import type { ReportedCaseRun } from './reportedCaseRun.js';
import { prepareReportedCase } from './reportedCaseRun.js';

function untilAsked({ stack }: ReportedCaseRun): Promise<true> {
  return until('a VM is asked for', 30_000, () =>
    Promise.resolve(putNames(stack.azure).length > 0 ? (true as const) : undefined),
  );
}

async function taintKeys({ api }: ReportedCaseRun): Promise<string[]> {
  return (await listNodes(api, nodePoolName)).flatMap(({ spec }) => spec?.taints ?? []).map(({ key }) => key);
}

describe('a replacement that is terminated by hand while its VM is created', () => {
  let run: ReportedCaseRun;

  beforeAll(async () => {
    run = await prepareReportedCase({ nodes: 1, budget: '1', speed: 20 });
    await run.drift();
    await untilAsked(run);
  }, 60_000);

  afterAll(() => run.stop());

  it('is tried again on `retry`, and what the first try left is removed', async () => {
    const list = run.workflows.list({ query: `Cluster = "${run.stack.clusterId}" AND WorkflowType = "replaceNode"` });
    for await (const { workflowId } of list) await run.workflows.getHandle(workflowId).terminate('by hand');
    const rollout = run.workflows.getHandle<typeof nodePoolRollout>(
      rolloutWorkflowId(run.stack.clusterId, nodePoolName),
    );
    await until('the rollout knows', 30_000, async () => {
      const { failures } = await rollout.query(statusQuery);
      return failures[0]?.code === 'Terminated' ? true : undefined;
    });
    expect(await taintKeys(run)).toContain('karpenter.sh/disrupted');
    await rollout.executeUpdate(retryUpdate, { args: [{}] });
    expect(await run.untilRest()).toEqual({ kind: 'completed' });
    const report = await run.report();
    expect(report).toMatchObject({ replaced: 1, failed: 0, maxDisrupted: 1 });
    expect(report.orphans).toEqual({ vms: 0, nics: 0, nodeClaims: 0, taints: 0 });
    expect(run.stack.azure.virtualMachines()).toHaveLength(1);
  }, 120_000);
});

describe('a drift that clears while the VM is created', () => {
  let run: ReportedCaseRun;

  beforeAll(async () => {
    run = await prepareReportedCase({ nodes: 1, budget: '1', speed: 20 });
    await run.drift();
    await untilAsked(run);
    await run.api.custom.patchClusterCustomObject(
      {
        group: 'karpenter.azure.com',
        version: 'v1beta1',
        plural: 'aksnodeclasses',
        name: 'default',
        body: { spec: { imageFamily: 'Ubuntu2204' } },
      },
      mergePatch,
    );
  }, 60_000);

  afterAll(() => run.stop());

  it('r036: has everything undone before a pod is evicted', async () => {
    expect(await run.untilRest()).toEqual({ kind: 'completed' });
    const report = await run.report();
    expect(report.podMoves.evicted).toBe(0);
    expect(report.orphans).toEqual({ vms: 0, nics: 0, nodeClaims: 0, taints: 0 });
    expect(run.stack.azure.virtualMachines()).toHaveLength(1);
    const rollout = run.workflows.getHandle<typeof nodePoolRollout>(
      rolloutWorkflowId(run.stack.clusterId, nodePoolName),
    );
    const { notNeeded, failures } = await rollout.result();
    expect(notNeeded).toHaveLength(1);
    expect(failures).toEqual([]);
  }, 120_000);
});

describe('a VM that vanishes after its create has succeeded', () => {
  let run: ReportedCaseRun;

  beforeAll(async () => {
    run = await prepareReportedCase({
      nodes: 1,
      budget: '1',
      speed: 20,
      faults: [{ on: 'createVirtualMachine', then: { kind: 'vanish', afterSeconds: 5 } }],
    });
    await run.drift();
    await untilAsked(run);
  }, 60_000);

  afterAll(() => run.stop());

  it('r086: is noticed long before the registration TTL, as one failure, and the node is replaced all the same', async () => {
    expect(await run.untilRest()).toEqual({ kind: 'completed' });
    const [first = ''] = putNames(run.stack.azure);
    const states = historyOfNodeClaim(run.stack.cluster, first.replace('aks-', ''));
    expect(states.map((state) => getCondition(state, conditionTypes.launched))).toContainEqual(
      expect.objectContaining({ status: 'False', reason: 'VirtualMachineNotFound' }),
    );
    const report = await run.report();
    expect(report).toMatchObject({ replaced: 1, failed: 0 });
    // What vanished, and what took its place.
    expect(putNames(run.stack.azure)).toHaveLength(2);
    expect(report.makespanSeconds).toBeLessThan(600);
    expect(report.orphans).toEqual({ vms: 0, nics: 0, nodeClaims: 0, taints: 0 });
  }, 120_000);
});
