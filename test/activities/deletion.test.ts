import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { createKubernetesApi } from '../../activities/kubernetes/kubernetesApi.js';
import { readNodeClaim, updateNodeClaimStatus } from '../../activities/kubernetes/nodeClaims.js';
import { deleteNode, readNode } from '../../activities/kubernetes/nodes.js';
import { UnreachableError } from '../../activities/kubernetes/request.js';
import { createArmLauncher } from '../../activities/launcher/arm/armLauncher.js';
import { conditionTypes, isTrue } from '../../karpenter/conditions.js';
import { ownerAnnotation, workflowAnnotation } from '../../karpenter/labels.js';
import { simulatedAzure } from '../../simulator/options.js';
import { nodeModel } from '../simulator/azureHarness.js';
import { eventually } from '../support/eventually.js';
import type { LauncherWorld } from '../support/launcherWorld.js';
import { startLauncherWorld } from '../support/launcherWorld.js';

const node = 'aks-old';
/** Of the minute that the world gives an activity. */
const almostTooLateMs = 59_990;
/** Later than Azure wants the operation to be read for the first time. */
const longAgoMs = 5_000;
let world: LauncherWorld;

beforeEach(async () => {
  world = await startLauncherWorld();
  const { azure, cluster, environment, old, ref } = world;
  azure.seedVirtualMachine(simulatedAzure.resourceGroup, node, nodeModel(node));
  const providerID = environment.virtualMachines.providerId(node);
  await updateNodeClaimStatus(cluster.api, ref.nodeClaim, old.metadata.uid, () => ({ providerID }));
  const annotations = { [ownerAnnotation]: environment.owner, [workflowAnnotation]: ref.workflowId };
  await cluster.send('PATCH', `/api/v1/nodes/${node}`, { metadata: { annotations } });
});
afterEach(() => world.close());

describe('the deletion of the old node', () => {
  it('is carried through when the answer of its first attempt was lost and the cloud controller has removed the Node', async () => {
    const { kubernetes } = world.environment;
    await world.attempt(() => world.launcher.beginDeletion(world.ref, null));
    const live = await readNode(kubernetes, node);
    if (live === undefined) throw new Error(`Node ${node} is gone too early`);
    await deleteNode(kubernetes, live);

    const deletion = await world.attempt(() => world.launcher.beginDeletion(world.ref, null));
    const nodeClaim = await readNodeClaim(kubernetes, 'old');
    expect(nodeClaim !== undefined && isTrue(nodeClaim, conditionTypes.instanceTerminating)).toBe(true);
    await world.untilDone(() => world.launcher.followDeletion(world.ref, deletion));
    expect(await readNodeClaim(kubernetes, 'old')).toBeUndefined();
    expect(world.azure.virtualMachines()).toEqual([]);
  });

  it('r113: ends at its deadline with word of a finalizer that is not ours, and leaves that to its owner', async () => {
    const { kubernetes } = world.environment;
    const foreign = 'example.com/inventory';
    await world.cluster.send('PATCH', '/apis/karpenter.sh/v1/nodeclaims/old', { metadata: { finalizers: [foreign] } });
    const deletion = await world.attempt(() => world.launcher.beginDeletion(world.ref, null));
    const follow = (): Promise<void> => world.launcher.followDeletion(world.ref, deletion);
    const why = `stuck finalizer: NodeClaim old is kept by ${foreign}`;
    await eventually(async () => {
      expect(await world.failure(follow, longAgoMs)).toMatchObject({ type: 'Waiting', message: why });
    });
    const failure = await world.failure(follow, almostTooLateMs);
    expect(failure).toMatchObject({ type: 'DeadlineExceeded', nonRetryable: true });
    expect(failure.message).toContain(why);

    const nodeClaim = await readNodeClaim(kubernetes, 'old');
    expect(nodeClaim?.metadata.finalizers).toEqual([foreign]);
    // It holds no permit meanwhile.
    expect(nodeClaim !== undefined && isTrue(nodeClaim, conditionTypes.instanceTerminating)).toBe(true);
    expect(world.azure.virtualMachines()).toEqual([]);
    await world.cluster.send('PATCH', '/apis/karpenter.sh/v1/nodeclaims/old', { metadata: { finalizers: [] } });
    await world.attempt(follow, longAgoMs);
    expect(await readNodeClaim(kubernetes, 'old')).toBeUndefined();
  });

  it('r182: is tried again when the API server takes a request and never answers it', async () => {
    const { api, simulator } = world.cluster;
    const kubernetes = createKubernetesApi(api.kubeConfig, 'deletion-test', { requestTimeoutMs: 1_000 });
    const launcher = createArmLauncher({ ...world.environment, kubernetes });
    const begin = (): Promise<unknown> => world.attempt(() => launcher.beginDeletion(world.ref, null));
    simulator.addFault({ verb: 'get', resource: 'nodes', userAgent: '^deletion-test$', then: { kind: 'hang' } });
    const beganAtMs = performance.now();
    await expect(begin()).rejects.toBeInstanceOf(UnreachableError);
    expect(performance.now() - beganAtMs).toBeGreaterThanOrEqual(1_000);
    expect(await begin()).toMatchObject({ nodeClaim: 'old', virtualMachine: node });
  });

  it('does not begin on a node that is not under our mark', async () => {
    await world.cluster.send('PATCH', `/api/v1/nodes/${node}`, {
      metadata: { annotations: { [workflowAnnotation]: 'replace/cluster/somebody-else' } },
    });
    const begin = (): Promise<unknown> => world.launcher.beginDeletion(world.ref, null);
    expect(await world.failure(begin)).toMatchObject({ type: 'Refused', nonRetryable: true });
    expect(world.azure.virtualMachines()).toHaveLength(1);
  });
});
