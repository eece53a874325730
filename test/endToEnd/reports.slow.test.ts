import { afterEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';

import { deleteNodeClaim, listNodeClaims } from '../../activities/kubernetes/nodeClaims.js';
import { listNodes, updateNode } from '../../activities/kubernetes/nodes.js';
import { nodePoolName } from '../../demo/scenario.js';
import { until } from '../../demo/until.js';
import { conditionTypes, isTrue } from '../../karpenter/conditions.js';
import { disruptedTaint, replacesAnnotation } from '../../karpenter/labels.js';
import { rolloutWorkflowId } from '../../workflows/ids.js';
import { statusQuery } from '../../workflows/messages.js';
import { historyOfNodeClaim, mostVirtualMachines, prematureEvictions, putNames, putsAt } from './auditQuestions.js';
import { writeBootstrap } from './bootstrapSecret.js';
import type { ReportedCaseRun, RunOptions } from './reportedCaseRun.js';
import { prepareReportedCase } from './reportedCaseRun.js';

/** Public reports that show only when everything runs together: docs/reports.md says which. */

const quickly: Partial<RunOptions> = {
  speed: 20,
  durations: { vmCreateMs: 20_000, nodeBootMs: 10_000, podTerminationMs: 2_000, vmDeleteMs: 10_000 },
};
const nothingLeft = { vms: 0, nics: 0, nodeClaims: 0, taints: 0 };
const agentTaint = 'agent.example/not-ready';

let run: ReportedCaseRun;

afterEach(() => run.stop());

async function start(options: Pick<RunOptions, 'nodes' | 'budget' | 'workerFlags'>): Promise<void> {
  run = await prepareReportedCase({ speed: 20, ...quickly, ...options });
}

/** The first replacement that is there, when it is as asked for. */
async function untilReplacement(what: string, isIt: (name: string) => Promise<boolean>): Promise<string> {
  return await until(what, 60_000, async () => {
    const all = await listNodeClaims(run.api, nodePoolName);
    const name = all.find(({ metadata }) => metadata.annotations?.[replacesAnnotation] !== undefined)?.metadata.name;
    return name !== undefined && (await isIt(name)) ? name : undefined;
  });
}

async function taintsOf(key: string): Promise<string[]> {
  return (await listNodes(run.api, nodePoolName))
    .filter(({ spec }) => spec?.taints?.some((taint) => taint.key === key))
    .map(({ metadata }) => metadata.name);
}

/** What is not static cannot become so: the NodePool is made anew. */
async function makeStatic(replicas: number): Promise<void> {
  const nodePools = { group: 'karpenter.sh', version: 'v1', plural: 'nodepools' };
  const named = { ...nodePools, name: nodePoolName };
  const manifest = z
    .looseObject({
      metadata: z.object({ name: z.string(), annotations: z.record(z.string(), z.string()) }),
      spec: z.looseObject({}),
    })
    .parse(await run.api.custom.getClusterCustomObject(named));
  // Its NodeClaims stay: the garbage collector would take them with it.
  await run.api.custom.deleteClusterCustomObject({ ...named, propagationPolicy: 'Orphan' });
  await run.api.custom.createClusterCustomObject({
    ...nodePools,
    body: { ...manifest, spec: { ...manifest.spec, replicas } },
  });
}

describe('with a budget of 10% of five nodes', () => {
  it('r028: never more than one node is disrupted, though all drift in the same second', async () => {
    await start({ nodes: 5, budget: '10%' });
    await run.drift();
    expect(await run.untilRest()).toEqual({ kind: 'completed' });
    const report = await run.report();
    expect(report).toMatchObject({ replaced: 5, failed: 0, maxDisrupted: 1, maxInFlight: 1, orphans: nothingLeft });
  }, 120_000);
});

describe('a replacement that registers with a taint that nobody has declared', () => {
  it('r046: is waited for: there is no second one', async () => {
    await start({ nodes: 1, budget: '1' });
    const secret = { namespace: 'kube-system', name: 'driftless-vm-template' };
    const current = await run.api.core.readNamespacedSecret(secret);
    const bootstrap = Buffer.from(current.data?.['bootstrap'] ?? '', 'base64').toString('utf8');
    const tainted = bootstrap.replace('{{nodeTaints}}', `{{nodeTaints}},${agentTaint}=true:NoSchedule`);
    await run.api.core.replaceNamespacedSecret({
      ...secret,
      body: Object.assign(current, { stringData: { bootstrap: tainted } }),
    });
    await run.drift();
    await until('the replacement has the taint, and the old pod has to go', 60_000, async () => {
      const [node] = await taintsOf(agentTaint);
      const evicted = run.stack.cluster.audit.entries.some(({ verb, status }) => verb === 'evict' && status === 201);
      return node !== undefined && evicted ? true : undefined;
    });
    const [node = ''] = await taintsOf(agentTaint);
    await updateNode(run.api, node, ({ spec }) => ({
      taints: (spec?.taints ?? []).filter(({ key }) => key !== agentTaint),
    }));
    expect(await run.untilRest()).toEqual({ kind: 'completed' });
    expect(putNames(run.stack.azure)).toHaveLength(1);
    expect(await run.report()).toMatchObject({ replaced: 1, failed: 0, orphans: nothingLeft });
  }, 120_000);
});

describe('a replacement in a static NodePool that another controller deletes as surplus', () => {
  it('r054: fails cleanly, gives the taint back, and is tried again later', async () => {
    await start({ nodes: 2, budget: '1' });
    await makeStatic(2);
    await run.drift();
    const surplus = await untilReplacement('a VM is asked for', (name) =>
      Promise.resolve(putNames(run.stack.azure).includes(`aks-${name}`)),
    );
    const [state] = historyOfNodeClaim(run.stack.cluster, surplus);
    await deleteNodeClaim(run.api, surplus, state?.metadata.uid ?? '');
    const rollout = run.workflows.getHandle(rolloutWorkflowId(run.stack.clusterId, nodePoolName));
    const failure = await until('the replacement has failed', 60_000, async () => {
      const { failures } = await rollout.query(statusQuery);
      return failures[0];
    });
    expect(failure).toMatchObject({ code: 'ReplacementDeleted', held: false });
    expect(await run.untilRest()).toEqual({ kind: 'completed' });
    expect(await taintsOf(disruptedTaint)).toEqual([]);
    expect(prematureEvictions(run.stack.cluster)).toEqual([]);
    expect(
      historyOfNodeClaim(run.stack.cluster, surplus).some((claim) => isTrue(claim, conditionTypes.initialized)),
    ).toBe(false);
    expect(await run.report()).toMatchObject({ replaced: 2, maxDisrupted: 1, orphans: nothingLeft });
  }, 120_000);
});

describe('a node whose replacements never join', () => {
  it('r129: has one of them at a time, and another one only after the backoff', async () => {
    const passes = 10;
    await start({
      nodes: 1,
      budget: '1',
      workerFlags: [
        ...['--registration-ttl', '60s', '--backoff', '10s', '--backoff-max', '20s'],
        ...['--halt-after-failures', String(passes)],
      ],
    });
    await writeBootstrap(run.api, 'KUBELET_REGISTER_WITH_TAINTS=this is no taint');
    await run.drift();
    const end = await run.untilRest();
    expect(end).toMatchObject({ kind: 'waitsForPerson', failures: [{ code: 'RegistrationTimeout', rounds: passes }] });
    const puts = putsAt(run.stack.azure);
    expect(puts).toHaveLength(passes);
    for (const [pass, at] of puts.slice(1).entries()) {
      const backoffMs = Math.min(10_000 * 2 ** pass, 20_000);
      expect(at - (puts[pass] ?? 0)).toBeGreaterThanOrEqual((60_000 + 0.8 * backoffMs) / 20);
    }
    // The old one and one more.
    expect(mostVirtualMachines(run.stack.azure)).toBe(2);
    expect(await run.report()).toMatchObject({ replaced: 0, podMoves: { evicted: 0 }, orphans: nothingLeft });
  }, 240_000);
});

describe('a drain that a disruption budget holds to its end', () => {
  it('r166: leaves no taint and no replacement behind', async () => {
    await start({ nodes: 1, budget: '1', workerFlags: ['--drain-timeout', '400s', '--halt-after-failures', '1'] });
    await run.drift();
    const replacement = await untilReplacement('a VM is asked for', (name) =>
      Promise.resolve(putNames(run.stack.azure).includes(`aks-${name}`)),
    );
    // Now, or the node would not be begun with.
    await run.api.policy.createNamespacedPodDisruptionBudget({
      namespace: 'default',
      body: {
        metadata: { name: 'nothing-goes' },
        spec: { maxUnavailable: 0, selector: { matchLabels: { app: 'inflate' } } },
      },
    });
    expect(await run.untilRest()).toMatchObject({
      kind: 'waitsForPerson',
      failures: [{ code: 'DeadlineExceeded', message: expect.stringContaining('nothing-goes') }],
    });
    expect(
      historyOfNodeClaim(run.stack.cluster, replacement).some((claim) => isTrue(claim, conditionTypes.initialized)),
    ).toBe(true);
    expect(await taintsOf(disruptedTaint)).toEqual([]);
    expect((await listNodeClaims(run.api, nodePoolName)).map(({ metadata }) => metadata.name)).not.toContain(
      replacement,
    );
    expect(run.stack.azure.virtualMachines()).toHaveLength(1);
    expect(await run.report()).toMatchObject({ replaced: 0, podMoves: { evicted: 0 }, orphans: nothingLeft });
  }, 120_000);
});
