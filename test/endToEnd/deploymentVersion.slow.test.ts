import type { WorkflowService } from '@temporalio/client';
import { isGrpcServiceError } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { nodePoolName } from '../../demo/scenario.js';
import { until } from '../../demo/until.js';
import { rolloutWorkflowId } from '../../workflows/ids.js';
import { putNames } from './auditQuestions.js';
import type { ReportedCaseRun } from './reportedCaseRun.js';
import { prepareReportedCase } from './reportedCaseRun.js';
import type { ServiceProcess } from '../../demo/serviceProcess.js';
import { startWorkerProcess } from '../../demo/serviceProcess.js';

const nodes = 2;
const speed = 20;
const timeoutMs = 60_000;
/** Temporal learns of a version, and of its task queues, by its workers' polls. */
const notYetKnown = /not found|^no .* found|missing active task queues/;

describe('a worker deployment that goes over to a new version in the middle of a rollout', () => {
  let run: ReportedCaseRun;
  let deploymentName: string;
  let second: ServiceProcess | undefined;

  beforeAll(async () => {
    run = await prepareReportedCase({ nodes, budget: '1', speed, withWorker: false });
    deploymentName = `driftless-${run.stack.clusterId}`;
    const first = await startWorkerProcess(run.stack, speed, ['--deployment-version', `${deploymentName}.1.0`]);
    await makeCurrent('1.0');
    await run.drift();
    await until('the first VM is asked for', timeoutMs, () =>
      Promise.resolve(putNames(run.stack.azure).length > 0 ? true : undefined),
    );
    second = await startWorkerProcess(run.stack, speed, ['--deployment-version', `${deploymentName}.2.0`]);
    await makeCurrent('2.0');
    expect(await first.kill('SIGTERM')).toBe(0);
  }, 120_000);

  afterAll(async () => {
    await second?.kill('SIGTERM');
    await run.stop();
  });

  /** What a deployment's pipeline does when the workers of a version are up: Temporal has to have heard of them. */
  async function makeCurrent(buildId: string): Promise<void> {
    const { workflowService, options } = run.workflows;
    await until(`version ${buildId} is current`, timeoutMs, async () => {
      try {
        await setCurrentVersion(workflowService, options.namespace, deploymentName, buildId);
        return true;
      } catch (error) {
        if (isGrpcServiceError(error) && notYetKnown.test(error.details)) return undefined;
        throw error;
      }
    });
  }

  it('takes the running workflows along', async () => {
    expect(await run.untilRest()).toEqual({ kind: 'completed' });
    const report = await run.report();
    expect(report).toMatchObject({ replaced: nodes, failed: 0, maxDisrupted: 1 });
    expect(new Set(putNames(run.stack.azure)).size).toBe(nodes);
    const rollout = run.workflows.getHandle(rolloutWorkflowId(run.stack.clusterId, nodePoolName));
    const { events } = await rollout.fetchHistory();
    const versions = (events ?? []).flatMap(({ workflowTaskCompletedEventAttributes: task }) =>
      task?.deploymentVersion?.buildId ? [task.deploymentVersion.buildId] : [],
    );
    expect(versions[0]).toBe('1.0');
    expect(versions.at(-1)).toBe('2.0');
  }, 180_000);
});

async function setCurrentVersion(
  service: WorkflowService,
  namespace: string,
  deploymentName: string,
  buildId: string,
): Promise<void> {
  await service.setWorkerDeploymentCurrentVersion({ namespace, deploymentName, buildId });
}
