import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { mergePatch } from '../../activities/kubernetes/kubernetesApi.js';
import { listNodes } from '../../activities/kubernetes/nodes.js';
import type { Report } from '../../demo/report.js';
import type { RolloutEnd } from '../../demo/rollout.js';
import { nodePoolName } from '../../demo/scenario.js';
import { until } from '../../demo/until.js';
import { nodeSchema } from '../../karpenter/api.js';
import { disruptedTaint } from '../../karpenter/labels.js';
import { prematureEvictions, putNames } from './auditQuestions.js';
import type { ReportedCaseRun } from './reportedCaseRun.js';
import { prepareReportedCase } from './reportedCaseRun.js';
import type { ServiceProcess } from '../../demo/serviceProcess.js';
import { startWorkerProcess } from '../../demo/serviceProcess.js';

const nodes = 3;
const speed = 10;

describe('a worker that is killed with kill -9 while Azure creates VMs', () => {
  let run: ReportedCaseRun;
  let second: ServiceProcess;
  let end: RolloutEnd;
  let report: Report;
  let pollsBefore: number;
  /** A node that a person has cordoned, and where the audit log was then. */
  let cordoned: string;
  let cordonedAtEntry: number;
  let secondExitCode: number | null;

  const operationReads = (): number =>
    run.stack.azure.audit.entries.filter(
      (entry) => entry.kind === 'request' && entry.path.toLowerCase().includes('/operations/'),
    ).length;

  beforeAll(async () => {
    run = await prepareReportedCase({ nodes, budget: String(nodes), speed, withWorker: false });
    cordoned = (await listNodes(run.api, nodePoolName))[0]?.metadata.name ?? '';
    await run.api.core.patchNode({ name: cordoned, body: { spec: { unschedulable: true } } }, mergePatch);
    cordonedAtEntry = run.stack.cluster.audit.entries.length;
    const first = await startWorkerProcess(run.stack, speed);
    await run.drift();
    await until('all creates are polled', 30_000, () =>
      Promise.resolve(putNames(run.stack.azure).length === nodes && operationReads() >= 2 * nodes ? true : undefined),
    );
    await first.kill('SIGKILL');
    pollsBefore = operationReads();
    second = await startWorkerProcess(run.stack, speed);
    end = await run.untilRest();
    report = await run.report();
    secondExitCode = await second.kill('SIGTERM');
  }, 180_000);

  afterAll(() => run.stop());

  it('loses no replacement', () => {
    expect(end).toEqual({ kind: 'completed' });
    expect(report).toMatchObject({ replaced: nodes, failed: 0, launchFailures: [] });
    expect(report.orphans).toEqual({ vms: 0, nics: 0, nodeClaims: 0, taints: 0 });
  });

  it('r075: goes on from the original token: no VM is asked for twice', () => {
    expect(operationReads()).toBeGreaterThan(pollsBefore);
    expect(putNames(run.stack.azure)).toHaveLength(nodes);
  });

  it('writes no history for polls: one activity a replacement, whoever made its attempts', async () => {
    const attempts: number[] = [];
    for await (const { workflowId } of run.workflows.list({
      query: `Cluster = "${run.stack.clusterId}" AND WorkflowType = "replaceNode"`,
    })) {
      const { events } = await run.workflows.getHandle(workflowId).fetchHistory();
      const scheduled = (events ?? []).filter(
        (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'pollLaunch',
      );
      const started = (events ?? []).filter((event) =>
        scheduled.some(({ eventId }) => event.activityTaskStartedEventAttributes?.scheduledEventId?.eq(eventId ?? 0)),
      );
      expect(scheduled).toHaveLength(1);
      expect(started).toHaveLength(1);
      attempts.push(started[0]?.activityTaskStartedEventAttributes?.attempt ?? 0);
    }
    expect(attempts).toHaveLength(nodes);
    // An attempt that was lost with the worker may be the last one; not all of them are.
    expect(Math.max(...attempts)).toBeGreaterThan(2);
  });

  it('keeps to the budget and evicts nothing early', () => {
    expect(report.maxDisrupted).toBe(nodes);
    expect(prematureEvictions(run.stack.cluster)).toEqual([]);
  });

  it('r052: takes up or takes off its own taints, and never a cordon of a person', () => {
    const states = run.stack.cluster.audit.entries
      .slice(cordonedAtEntry)
      .filter(({ resource, name, object }) => resource === 'nodes' && name === cordoned && object !== undefined)
      .map(({ object }) => nodeSchema.parse(object));
    const isTainted = states.map(({ spec }) => spec?.taints?.some(({ key }) => key === disruptedTaint) ?? false);
    expect(isTainted).toContain(true);
    expect(states.filter(({ spec }) => spec?.unschedulable !== true)).toEqual([]);
    expect(report.orphans.taints).toBe(0);
  });

  it('stops with exit code 0 on SIGTERM', () => {
    expect(secondExitCode).toBe(0);
  });
});
