import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { deleteNodeClaim, readNodeClaim } from '../../activities/kubernetes/nodeClaims.js';
import { readNode } from '../../activities/kubernetes/nodes.js';
import type { IsWorkflowRunning, SweepSettings } from '../../activities/sweep.js';
import { createSweepActivities } from '../../activities/sweep.js';
import { until } from '../../demo/until.js';
import { disruptedTaint, ownerAnnotation, workflowAnnotation } from '../../karpenter/labels.js';
import { disruption, virtualMachineName } from '../../karpenter/replacement.js';
import type { Launch, MachinePart } from '../../workflows/replacementTypes.js';
import type { SweepReport } from '../../workflows/sweepTypes.js';
import type { LauncherWorld } from '../support/launcherWorld.js';
import { armRequests, noneStuck, startLauncherWorld } from '../support/launcherWorld.js';

const node = 'aks-old';
let world: LauncherWorld;
let launch: Launch;

/** What a replacement that was terminated leaves behind: a taint, and a replacement that nobody waits for. */
beforeEach(async () => {
  world = await startLauncherWorld();
  const { cluster, environment, ref } = world;
  launch = await world.attempt(() => world.launcher.createReplacement(world.ref, world.request()));
  const annotations = { [ownerAnnotation]: environment.owner, [workflowAnnotation]: ref.workflowId };
  await cluster.send('PATCH', `/api/v1/nodes/${node}`, { metadata: { annotations }, spec: { taints: [disruption] } });
});
afterEach(() => world.close());

function sweep(isRunning: IsWorkflowRunning, mode: SweepSettings['mode'] = 'delete'): Promise<SweepReport> {
  const { environment } = world;
  const settings = { mode, minAgeMs: -60_000, maxDeletions: 10 };
  const activities = createSweepActivities(environment, isRunning, environment.virtualMachines, settings, noneStuck);
  return world.attempt(() => activities.sweep({ cluster: environment.clusterId }));
}

const nobodyRuns: IsWorkflowRunning = () => Promise.resolve(false);

function actions(findings: SweepReport['findings']): string[] {
  return findings.map(({ kind, action }) => `${kind} ${action}`);
}

async function untilVirtualMachineGone(): Promise<void> {
  const { virtualMachines } = world.environment;
  await until('the VM is gone', 30_000, async () =>
    (await virtualMachines.get(launch.virtualMachine)) === undefined ? true : undefined,
  );
}

async function taints(): Promise<string[]> {
  return ((await readNode(world.cluster.api, node))?.spec?.taints ?? []).map(({ key }) => key);
}

async function isBeingDeleted(): Promise<boolean> {
  const nodeClaim = await readNodeClaim(world.cluster.api, launch.nodeClaim);
  return nodeClaim?.metadata.deletionTimestamp !== undefined;
}

async function expectNothingTouched(): Promise<void> {
  expect(await taints()).toContain(disruptedTaint);
  expect(await isBeingDeleted()).toBe(false);
  expect(armRequests(world, 'DELETE')).toEqual([]);
}

describe('a sweep', () => {
  it('takes away what no workflow looks after', async () => {
    const { findings } = await sweep(nobodyRuns);
    expect(actions(findings)).toEqual(['taint removed', 'nodeClaim deleting']);
    expect(await taints()).not.toContain(disruptedTaint);
    expect(await isBeingDeleted()).toBe(true);
  });

  it('brings the deletion of a NodeClaim to its end, once its VM is gone', async () => {
    await sweep(nobodyRuns);
    await untilVirtualMachineGone();
    const { findings } = await sweep(nobodyRuns);
    expect(actions(findings)).toEqual(['deletion removed']);
    expect(await readNodeClaim(world.cluster.api, launch.nodeClaim)).toBeUndefined();
    expect((await sweep(nobodyRuns)).findings).toEqual([]);
  });

  it('only reports a deletion whose VM is still there, unless deletion is switched on', async () => {
    const { api } = world.cluster;
    await deleteNodeClaim(api, launch.nodeClaim, launch.uid);
    const reported = await sweep(nobodyRuns, 'report');
    expect(actions(reported.findings)).toEqual(['taint removed', 'deletion reported']);
    expect(world.azure.virtualMachines().map(({ name }) => name)).toContain(launch.virtualMachine);
    expect(actions((await sweep(nobodyRuns)).findings)).toEqual(['deletion deleting']);
    await untilVirtualMachineGone();
    // Nothing is destroyed by that any more.
    expect(actions((await sweep(nobodyRuns, 'report')).findings)).toEqual(['deletion removed']);
  });

  it('r174: takes the taint off a node that is not Ready, too', async () => {
    const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime: '2026-01-01T00:00:00Z' }];
    await world.cluster.send('PATCH', `/api/v1/nodes/${node}/status`, { status: { conditions } });
    await sweep(nobodyRuns);
    expect(await taints()).not.toContain(disruptedTaint);
  });

  it.each(['nodeclaims', 'nodes'])('deletes nothing when the list of %s fails', async (resource) => {
    world.cluster.simulator.addFault({ verb: 'list', resource, then: { kind: 'fail', status: 500 } });
    await expect(sweep(nobodyRuns)).rejects.toThrow();
    await expectNothingTouched();
  });

  it('deletes nothing when the list of VMs fails', async () => {
    world.azure.addFault({
      on: 'listVirtualMachines',
      then: { kind: 'requestFails', status: 500, code: 'InternalServerError', message: 'try again' },
    });
    await expect(sweep(nobodyRuns)).rejects.toThrow('list VMs');
    await expectNothingTouched();
  });

  it('deletes nothing when the pods of a node cannot be listed', async () => {
    world.cluster.simulator.addFault({ verb: 'list', resource: 'pods', then: { kind: 'fail', status: 500 } });
    await expect(sweep(nobodyRuns)).rejects.toThrow();
    expect(await isBeingDeleted()).toBe(false);
    expect(armRequests(world, 'DELETE')).toEqual([]);
  });

  it('leaves a replacement with workload on its node', async () => {
    await world.cluster.send('POST', '/api/v1/namespaces/default/pods', {
      metadata: { name: 'moved' },
      spec: { nodeName: virtualMachineName(launch.nodeClaim), containers: [{ name: 'main', image: 'app:1' }] },
    });
    const { findings } = await sweep(nobodyRuns);
    expect(findings).toContainEqual(
      expect.objectContaining({ kind: 'nodeClaim', action: 'stays: pod default/moved runs on it' }),
    );
    expect(await isBeingDeleted()).toBe(false);
  });

  it('leaves alone what the next run of the same replacement has taken up since the look', async () => {
    let asked = 0;
    const { findings } = await sweep(() => {
      asked += 1;
      return Promise.resolve(asked > 1);
    });
    expect(asked).toBe(3);
    expect(findings).toEqual([]);
    expect(await taints()).toContain(disruptedTaint);
    expect(await isBeingDeleted()).toBe(false);
  });

  it('leaves a VM alone whose NodeClaim has come since the look', async () => {
    const { virtualMachines } = world.environment;
    const machines = {
      nameOf: (providerId: string) => virtualMachines.nameOf(providerId),
      get: (name: string) => virtualMachines.get(name),
      hasPart: (part: MachinePart) => virtualMachines.hasPart(part),
      beginDeletePart: (part: MachinePart) => virtualMachines.beginDeletePart(part),
      list: () =>
        Promise.resolve([
          { name: 'aks-lost', owner: 'owner', nodeClaim: 'lost', createdAt: '2026-01-01T00:00:00Z' },
          { name: 'aks-late', owner: 'owner', nodeClaim: 'late', createdAt: '2026-01-01T00:00:00Z' },
        ]),
      deleted: new Array<string>(),
      async beginDelete(name: string): Promise<void> {
        this.deleted.push(name);
        // The first deletion takes its time: meanwhile the other VM's NodeClaim is made.
        await world.cluster.send('POST', '/apis/karpenter.sh/v1/nodeclaims', {
          apiVersion: 'karpenter.sh/v1',
          kind: 'NodeClaim',
          metadata: { name: 'late' },
          spec: { nodeClassRef: world.old.spec.nodeClassRef, requirements: [] },
        });
      },
    };
    const settings = { mode: 'delete', minAgeMs: 0, maxDeletions: 10 } as const;
    const activities = createSweepActivities(
      world.environment,
      () => Promise.resolve(true),
      machines,
      settings,
      noneStuck,
    );
    await world.attempt(() => activities.sweep({ cluster: world.environment.clusterId }));
    expect(machines.deleted).toEqual(['aks-lost']);
  });
});
