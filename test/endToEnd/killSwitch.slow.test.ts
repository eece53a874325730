import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { mergePatch } from '../../activities/kubernetes/kubernetesApi.js';
import { nodePoolName } from '../../demo/scenario.js';
import { until } from '../../demo/until.js';
import { rolloutWorkflowId } from '../../workflows/ids.js';
import { statusQuery } from '../../workflows/messages.js';
import { changesBetween, prematureEvictions, putNames } from './auditQuestions.js';
import type { ReportedCaseRun } from './reportedCaseRun.js';
import { prepareReportedCase } from './reportedCaseRun.js';

const configMap = { namespace: 'kube-system', name: 'driftless' };
/** The promise: everything stops within a second. */
const stopsWithinMs = 1_000;
/** Longer than the timeouts below, at the run's speed. */
const pausedMs = 21_000;

describe('the kill switch', () => {
  let run: ReportedCaseRun;

  beforeAll(async () => {
    run = await prepareReportedCase({
      nodes: 4,
      budget: '2',
      speed: 30,
      // Shorter than the pause, and long enough for a busy machine: 20 s of wall-clock time.
      workerFlags: ['--launch-timeout', '600s', '--registration-ttl', '600s', '--initialize-timeout', '600s'],
    });
    await run.api.core.createNamespacedConfigMap({
      namespace: configMap.namespace,
      body: { metadata: { name: configMap.name }, data: { paused: 'false' } },
    });
    await run.drift();
  }, 60_000);

  afterAll(() => run.stop());

  async function setPaused(paused: 'true' | 'false'): Promise<number> {
    await run.api.core.patchNamespacedConfigMap({ ...configMap, body: { data: { paused } } }, mergePatch);
    return performance.timeOrigin + performance.now();
  }

  it('stops every change within a second, costs no deadline, and all goes on when it is turned off', async () => {
    await until('two VMs are asked for', 30_000, () =>
      Promise.resolve(putNames(run.stack.azure).length >= 2 ? true : undefined),
    );
    const pausedAt = await setPaused('true');
    await until('it was on for longer than any timeout', 60_000, () =>
      Promise.resolve(performance.timeOrigin + performance.now() > pausedAt + pausedMs ? true : undefined),
    );
    const rollout = run.workflows.getHandle(rolloutWorkflowId(run.stack.clusterId, nodePoolName));
    const { admission, failures } = await rollout.query(statusQuery);
    expect(failures).toEqual([]);
    expect(admission?.closed).toBe('the ConfigMap kube-system/driftless says paused: "true"');
    const resumedAt = await setPaused('false');
    expect(changesBetween(run.stack, pausedAt + stopsWithinMs, resumedAt)).toEqual([]);

    expect(await run.untilRest()).toEqual({ kind: 'completed' });
    expect(await run.report()).toMatchObject({
      replaced: 4,
      failed: 0,
      maxDisrupted: 2,
      orphans: { vms: 0, nics: 0, nodeClaims: 0, taints: 0 },
    });
    expect(prematureEvictions(run.stack.cluster)).toEqual([]);
    // Nothing timed out and was launched anew.
    const { items: events } = await run.api.core.listEventForAllNamespaces();
    expect(events.filter(({ reason }) => reason === 'LaunchFailed').map(({ message }) => message)).toEqual([]);
    expect(putNames(run.stack.azure)).toHaveLength(4);
  }, 180_000);
});
