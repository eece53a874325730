import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { listNodeClaims } from '../../activities/kubernetes/nodeClaims.js';
import { listNodes } from '../../activities/kubernetes/nodes.js';
import { nodePoolName } from '../../demo/scenario.js';
import { until } from '../../demo/until.js';
import { conditionTypes, getCondition } from '../../karpenter/conditions.js';
import { disruptedTaint, ownerAnnotation } from '../../karpenter/labels.js';
import { rolloutWorkflowId } from '../../workflows/ids.js';
import { retryUpdate, statusQuery } from '../../workflows/messages.js';
import type { RolloutStatus } from '../../workflows/messages.js';
import { readBootstrap, writeBootstrap } from './bootstrapSecret.js';
import { historyOfNodeClaim, prematureEvictions, putNames } from './auditQuestions.js';
import type { ReportedCaseRun } from './reportedCaseRun.js';
import { prepareReportedCase } from './reportedCaseRun.js';

/** What the two stories below ask of a run. */
function questions(run: () => ReportedCaseRun) {
  const rollout = () => run().workflows.getHandle(rolloutWorkflowId(run().stack.clusterId, nodePoolName));
  const status = (): Promise<RolloutStatus> => rollout().query(statusQuery);
  return {
    rollout,
    status,
    untilAsked: () =>
      until('the first VM is asked for', 30_000, () =>
        Promise.resolve(putNames(run().stack.azure).length > 0 ? true : undefined),
      ),
    untilFailed: () =>
      until('a replacement has failed', 60_000, async () => {
        const { failures } = await status();
        return failures[0];
      }),
    replacements: async () =>
      (await listNodeClaims(run().api, nodePoolName)).filter(
        ({ metadata }) => metadata.annotations?.[ownerAnnotation] !== undefined,
      ),
    taints: async () =>
      (await listNodes(run().api, nodePoolName)).flatMap(({ spec }) => spec?.taints ?? []).map(({ key }) => key),
  };
}

describe('a replacement that is canceled by hand while its VM is created', () => {
  let run: ReportedCaseRun;
  const { rollout, status, untilAsked, untilFailed, replacements, taints } = questions(() => run);

  beforeAll(async () => {
    run = await prepareReportedCase({ nodes: 2, budget: '1', speed: 20 });
    await run.drift();
  }, 60_000);

  afterAll(() => run.stop());

  it('undoes what it did, and the rollout goes on with the others', async () => {
    await untilAsked();
    const [first] = putNames(run.stack.azure);
    const { inFlight } = await status();
    expect(inFlight).toHaveLength(1);
    const list = run.workflows.list({ query: `Cluster = "${run.stack.clusterId}" AND WorkflowType = "replaceNode"` });
    for await (const { workflowId } of list) await run.workflows.getHandle(workflowId).cancel();
    const failure = await untilFailed();
    expect(failure).toMatchObject({ nodeClaim: inFlight[0], code: 'Canceled', held: true });
    expect(run.stack.azure.virtualMachines().map(({ name }) => name)).not.toContain(first);
    expect(run.stack.azure.networkInterfaces().map(({ name }) => name)).not.toContain(first);
    await until('the other node is replaced', 60_000, async () => {
      const { replaced } = await status();
      return replaced.length === 1 ? true : undefined;
    });
    expect(await taints()).not.toContain(disruptedTaint);
    expect(await replacements()).toHaveLength(1);
  }, 120_000);

  it('starts again on the update `retry`, and only then', async () => {
    const { failures } = await status();
    expect(failures).toHaveLength(1);
    await expect(
      rollout().executeUpdate(retryUpdate, { args: [{ nodeClaim: 'general-purpose-nobody' }] }),
    ).rejects.toThrow();
    const answer = await rollout().executeUpdate(retryUpdate, { args: [{ nodeClaim: failures[0]?.nodeClaim ?? '' }] });
    expect(answer.retried).toEqual([failures[0]?.nodeClaim]);
    expect(await run.untilRest()).toEqual({ kind: 'completed' });
    const report = await run.report();
    expect(report).toMatchObject({ replaced: 2, failed: 0, maxDisrupted: 1 });
    expect(report.orphans).toEqual({ vms: 0, nics: 0, nodeClaims: 0, taints: 0 });
    expect(prematureEvictions(run.stack.cluster)).toEqual([]);
  }, 120_000);
});

describe('a node that never registers', () => {
  let run: ReportedCaseRun;
  const { rollout, untilAsked, untilFailed, replacements, taints } = questions(() => run);
  let bootstrap: string;

  beforeAll(async () => {
    run = await prepareReportedCase({
      nodes: 1,
      budget: '1',
      speed: 20,
      workerFlags: ['--registration-ttl', '150s', '--halt-after-failures', '1'],
    });
    bootstrap = await readBootstrap(run.api);
    await writeBootstrap(run.api, 'KUBELET_REGISTER_WITH_TAINTS=this is no taint');
    await run.drift();
  }, 60_000);

  afterAll(() => run.stop());

  it('r033, r034: ends at the registration TTL with the same clean-up, the old node untouched, and halts', async () => {
    await untilAsked();
    const failure = await untilFailed();
    expect(failure).toMatchObject({ code: 'RegistrationTimeout', held: false });
    const [name] = putNames(run.stack.azure);
    const states = historyOfNodeClaim(run.stack.cluster, name?.replace('aks-', '') ?? '');
    expect(states.map((state) => getCondition(state, conditionTypes.registered))).toContainEqual(
      expect.objectContaining({ status: 'False', reason: 'RegistrationTimeout' }),
    );
    expect(await replacements()).toEqual([]);
    expect(await taints()).toEqual([]);
    expect(run.stack.azure.virtualMachines()).toHaveLength(1);
    expect(run.stack.azure.networkInterfaces()).toHaveLength(1);
    expect(prematureEvictions(run.stack.cluster)).toEqual([]);
    expect(putNames(run.stack.azure)).toHaveLength(1);
    expect(
      run.stack.azure.audit.entries.filter((entry) => entry.kind === 'request' && entry.method === 'DELETE'),
    ).toEqual([expect.objectContaining({ virtualMachine: name })]);
    const { halted } = await rollout().query(statusQuery);
    expect(halted).toContain('1 replacements in a row failed');
  }, 120_000);

  it('is replaced after `retry`, once the bootstrap is mended', async () => {
    await writeBootstrap(run.api, bootstrap);
    await rollout().executeUpdate(retryUpdate, { args: [{}] });
    expect(await run.untilRest()).toEqual({ kind: 'completed' });
    const report = await run.report();
    expect(report).toMatchObject({ replaced: 1, failed: 0 });
    expect(new Set(putNames(run.stack.azure)).size).toBe(2);
  }, 120_000);
});
