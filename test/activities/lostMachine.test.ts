import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { drain } from '../../activities/drain.js';
import { readNodeClaim, setNodeClaimCondition, trueCondition } from '../../activities/kubernetes/nodeClaims.js';
import { readNode } from '../../activities/kubernetes/nodes.js';
import { conditionTypes } from '../../karpenter/conditions.js';
import {
  disruptedTaint,
  doNotDisruptAnnotation,
  ownerAnnotation,
  terminationFinalizer,
  workflowAnnotation,
} from '../../karpenter/labels.js';
import { simulatedAzure } from '../../simulator/options.js';
import type { Launch } from '../../workflows/replacementTypes.js';
import { nodeModel } from '../simulator/azureHarness.js';
import { createNode, createPod } from '../simulator/behaviourHarness.js';
import { eventually } from '../support/eventually.js';
import type { LauncherWorld } from '../support/launcherWorld.js';
import { startLauncherWorld } from '../support/launcherWorld.js';

const node = 'aks-old';
const nodePath = `/api/v1/nodes/${node}`;
let world: LauncherWorld;
let launch: Launch;

/** A node in mid-replacement with a pod that may not be evicted. */
beforeEach(async () => {
  world = await startLauncherWorld();
  const { azure, cluster, environment, old, ref } = world;
  azure.seedVirtualMachine(simulatedAzure.resourceGroup, node, nodeModel(node));
  const { uid } = old.metadata;
  const providerID = environment.virtualMachines.providerId(node);
  await setNodeClaimCondition(cluster.api, 'old', uid, trueCondition(conditionTypes.drifted), { providerID });
  const annotations = { [ownerAnnotation]: environment.owner, [workflowAnnotation]: ref.workflowId };
  await cluster.send('PATCH', nodePath, {
    metadata: { annotations, finalizers: [terminationFinalizer] },
    spec: { providerID, taints: [{ key: disruptedTaint, effect: 'NoSchedule' }] },
  });
  await createPod(cluster, 'web', { nodeName: node });
  await cluster.send('PATCH', '/api/v1/namespaces/default/pods/web', {
    metadata: { annotations: { [doNotDisruptAnnotation]: 'true' } },
  });
  launch = await world.attempt(() => world.launcher.createReplacement(ref, world.request()));
  await createNode(cluster, launch.virtualMachine, { providerID: launch.providerId });
  const initialized = trueCondition(conditionTypes.initialized);
  await setNodeClaimCondition(cluster.api, launch.nodeClaim, launch.uid, initialized);
});
afterEach(() => world.close());

function drainOnce(): Promise<void> {
  return drain(world.environment, world.ref, launch, null);
}

async function setReady(status: 'True' | 'Unknown'): Promise<void> {
  await world.cluster.send('PATCH', `${nodePath}/status`, {
    status: { conditions: [{ type: 'Ready', status, lastTransitionTime: '2026-01-01T00:00:00Z' }] },
  });
}

describe('a node whose VM somebody has deleted', () => {
  it('r122: has no pods that anybody waits for, and its removal comes to its end', async () => {
    const { cluster, environment } = world;
    await setReady('Unknown');
    // A kubelet that is away for a while: its pods may run.
    expect(await world.failure(drainOnce)).toMatchObject({ type: 'Waiting' });

    await environment.virtualMachines.beginDelete(node);
    await eventually(async () => {
      expect(await environment.virtualMachines.get(node)).toBeUndefined();
    });
    await cluster.send('DELETE', nodePath);
    expect((await readNode(cluster.api, node))?.metadata.deletionTimestamp).toBeDefined();
    await world.attempt(drainOnce);
    const evictions = cluster.simulator.audit.entries.filter(({ verb }) => verb === 'evict');
    expect(evictions).toEqual([]);
    const events = cluster.simulator.audit.entries.flatMap(({ resource, object }) =>
      resource === 'events' ? [String(object?.['message'])] : [],
    );
    expect(events).toContain(`the VM of ${node} is gone: not waited for are default/web`);

    const deletion = await world.attempt(() => world.launcher.beginDeletion(world.ref, launch));
    await world.untilDone(() => world.launcher.followDeletion(world.ref, deletion));
    expect(await readNode(cluster.api, node)).toBeUndefined();
    expect(await readNodeClaim(cluster.api, 'old')).toBeUndefined();
    expect(world.azure.virtualMachines().map(({ name }) => name)).toEqual([launch.virtualMachine]);
  });
});
