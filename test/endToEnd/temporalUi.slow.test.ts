import type { WorkflowClient } from '@temporalio/client';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';

import { listNodeClaims } from '../../activities/kubernetes/nodeClaims.js';
import { listNodes } from '../../activities/kubernetes/nodes.js';
import { nodePoolName } from '../../demo/scenario.js';
import { until } from '../../demo/until.js';
import { conditionTypes, isTrue } from '../../karpenter/conditions.js';
import { disruptedTaint, replacesAnnotation } from '../../karpenter/labels.js';
import type { Phase } from '../../karpenter/phase.js';
import { rolloutWorkflowId } from '../../workflows/ids.js';
import { retryUpdate, statusQuery } from '../../workflows/messages.js';
import type { nodePoolRollout } from '../../workflows/nodePoolRollout.js';
import { findLeftovers } from '../chaos/leftovers.js';
import { prematureEvictions, putNames } from './auditQuestions.js';
import type { ReportedCaseRun } from './reportedCaseRun.js';
import { prepareReportedCase } from './reportedCaseRun.js';

const nodes = 4;
const budget = 2;
const timeoutMs = 60_000;

/** What people do in Temporal's UI, which asks nobody. */
describe('in Temporal’s UI', () => {
  let run: ReportedCaseRun;

  beforeEach(async () => {
    run = await prepareReportedCase({
      nodes,
      budget: String(budget),
      speed: 20,
      // Long enough for a person to come in between.
      durations: { podTerminationMs: 40_000 },
      workerFlags: ['--sweep-interval', '40s', '--sweep-min-age', '20s'],
    });
    await run.drift();
  }, 60_000);
  afterEach(() => run.stop());

  const rollout = () =>
    run.workflows.getHandle<typeof nodePoolRollout>(rolloutWorkflowId(run.stack.clusterId, nodePoolName));

  it.each<Phase>(['Launch', 'Drain', 'Delete'])(
    'a replacement that is terminated in phase %s leaves nothing behind, and no permit with it',
    async (phase) => {
      const terminated = await anyChildIn(run, phase);
      await run.workflows.getHandle(terminated).terminate('by hand');
      await until('the rollout waits for a person', timeoutMs, async () => {
        const { inFlight, failures } = await rollout().query(statusQuery);
        const isReported = failures.some(({ code, held }) => code === 'Terminated' && held);
        // One whose old node went all the same has nothing to retry.
        return inFlight.length === 0 && (isReported || phase === 'Delete') ? true : undefined;
      });
      if (phase !== 'Delete') await rollout().executeUpdate(retryUpdate, { args: [{}] });
      await expectAllReplaced(run);
    },
    180_000,
  );

  it('a replacement that is canceled in phase Drain leaves its new node, untaints the old one, and goes on with both', async () => {
    const canceled = run.workflows.getHandle(await anyChildIn(run, 'Drain'));
    await canceled.cancel();
    const failure = await until('it waits for a person', timeoutMs, async () => {
      const { failures } = await rollout().query(statusQuery);
      return failures[0];
    });
    expect(failure).toMatchObject({ code: 'Canceled', held: true });
    expect(canceled.workflowId).toContain(failure.uid);
    const nodeClaims = await listNodeClaims(run.api, nodePoolName);
    const replacement = nodeClaims.find(({ metadata }) => metadata.annotations?.[replacesAnnotation] === failure.uid);
    expect(isTrue(replacement ?? {}, conditionTypes.initialized)).toBe(true);
    const old = (await listNodes(run.api, nodePoolName)).find(({ metadata }) =>
      metadata.name.endsWith(failure.nodeClaim),
    );
    expect(old?.spec?.taints?.map(({ key }) => key) ?? []).not.toContain(disruptedTaint);
    await until('the others are replaced', timeoutMs, async () => {
      const { replaced } = await rollout().query(statusQuery);
      return replaced.length === nodes - 1 ? true : undefined;
    });
    await rollout().executeUpdate(retryUpdate, { args: [{}] });
    await expectAllReplaced(run);
    expect(new Set(putNames(run.stack.azure)).size).toBe(nodes);
  }, 180_000);

  it('a replacement that is canceled in phase Delete goes through to its end', async () => {
    const canceled = run.workflows.getHandle(await anyChildIn(run, 'Delete'));
    await canceled.cancel();
    expect(await canceled.result()).toMatchObject({ kind: 'replaced' });
    await expectAllReplaced(run);
  }, 180_000);

  it('a rollout that is terminated is found again by the next one, with all that is under way', async () => {
    await anyChildIn(run, 'Launch');
    await rollout().terminate('by hand');
    // Nobody tells the watcher: it looks after pools that have something to do.
    await expectAllReplaced(run);
  }, 180_000);

  it.each<Phase>(['Launch', 'Drain', 'Delete'])(
    'a replacement that is reset in phase %s goes on with the same VM',
    async (phase) => {
      await reset(run.workflows, await anyChildIn(run, phase));
      await expectAllReplaced(run);
      expect(new Set(putNames(run.stack.azure)).size).toBe(nodes);
    },
    180_000,
  );

  it('a rollout that is reset takes up the replacements that it had started', async () => {
    await anyChildIn(run, 'Launch');
    await reset(run.workflows, rollout().workflowId);
    await expectAllReplaced(run);
    expect(new Set(putNames(run.stack.azure)).size).toBe(nodes);
  }, 180_000);
});

/** The workflow id of a replacement that is in that phase now. */
async function anyChildIn({ workflows, stack }: ReportedCaseRun, phase: Phase): Promise<string> {
  const query = `Cluster = "${stack.clusterId}" AND WorkflowType = "replaceNode" AND Phase = "${phase}" AND ExecutionStatus = "Running"`;
  return await until(`a replacement in phase ${phase}`, timeoutMs, async () => {
    for await (const { workflowId } of workflows.list({ query })) return workflowId;
    return undefined;
  });
}

/** To its first workflow task: nothing of what it knew is left. */
async function reset(workflows: WorkflowClient, workflowId: string): Promise<void> {
  const handle = workflows.getHandle(workflowId);
  const { runId } = await handle.describe();
  const { events } = await handle.fetchHistory();
  const first = events?.find(({ workflowTaskCompletedEventAttributes }) => workflowTaskCompletedEventAttributes);
  await workflows.workflowService.resetWorkflowExecution({
    namespace: workflows.options.namespace,
    workflowExecution: { workflowId, runId },
    reason: 'by hand',
    requestId: randomUUID(),
    ...(first?.eventId ? { workflowTaskFinishEventId: first.eventId } : {}),
  });
}

/** From the audit logs, and from what is there when the sweeps have come by. */
async function expectAllReplaced(run: ReportedCaseRun): Promise<void> {
  await until('all are replaced, and nothing is left behind', timeoutMs, async () => {
    const { replaced } = await run.report();
    const { found } = await findLeftovers(run.stack, run.workflows, nodePoolName);
    return replaced === nodes && found.length === 0 ? true : undefined;
  });
  const report = await run.report();
  expect(report.maxDisrupted).toBeLessThanOrEqual(budget);
  expect(report.orphans).toEqual({ vms: 0, nics: 0, nodeClaims: 0, taints: 0 });
  expect(run.stack.azure.virtualMachines()).toHaveLength(nodes);
  expect(prematureEvictions(run.stack.cluster)).toEqual([]);
}
