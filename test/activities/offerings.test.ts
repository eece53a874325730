import { afterEach, describe, expect, it } from '@jest/globals';

import { ResourceSkus } from '../../activities/azure/resourceSkus.js';
import { readNodeClaim } from '../../activities/kubernetes/nodeClaims.js';
import { readNodePool } from '../../activities/kubernetes/nodePools.js';
import { readNode } from '../../activities/kubernetes/nodes.js';
import { listPodsOnNode } from '../../activities/kubernetes/pods.js';
import type { OfferingChoice } from '../../activities/offerings.js';
import { chooseOfferings, readShape } from '../../activities/offerings.js';
import type { Machine } from '../../karpenter/pool.js';
import type { Shape } from '../../karpenter/shape.js';
import { createPod } from '../simulator/behaviourHarness.js';
import type { LauncherWorld } from '../support/launcherWorld.js';
import { ownOffering, poolName, startLauncherWorld } from '../support/launcherWorld.js';

let world: LauncherWorld;
afterEach(() => world.close());

const mib = 2 ** 20;
const onOldNode = { nodeName: 'aks-old' };

async function createVolume(name: string, claim: string, zones: readonly string[]): Promise<void> {
  const { core } = world.cluster.api;
  const matchExpressions = [{ key: 'topology.disk.csi.azure.com/zone', operator: 'In', values: [...zones] }];
  await core.createPersistentVolume({
    body: {
      metadata: { name },
      spec: { nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } } },
    },
  });
  await core.createNamespacedPersistentVolumeClaim({
    namespace: 'default',
    body: { metadata: { name: claim }, spec: { volumeName: name } },
  });
}

async function machine(): Promise<Machine> {
  const { kubernetes } = world.environment;
  const nodeClaim = await readNodeClaim(kubernetes, 'old');
  if (nodeClaim === undefined) throw new Error('NodeClaim old is gone');
  return {
    nodeClaim,
    node: await readNode(kubernetes, 'aks-old'),
    pods: await listPodsOnNode(kubernetes, 'aks-old'),
  };
}

async function choose(shape: Shape): Promise<OfferingChoice> {
  const nodePool = await readNodePool(world.environment.kubernetes, poolName);
  if (nodePool === undefined) throw new Error(`NodePool ${poolName} is gone`);
  const old = await machine();
  return await world.attempt(() => chooseOfferings(world.environment, nodePool, old, shape));
}

describe('the shape of a replacement', () => {
  it('is what the pods to move and the DaemonSets’ pods ask for, in the zone of their volumes', async () => {
    world = await startLauncherWorld();
    await createVolume('disk-1', 'data', ['westus2-1']);
    await createVolume('disk-2', 'cache-scratch', ['westus2-1', 'westus2-2']);
    await createPod(world.cluster, 'database', {
      ...onOldNode,
      requests: { cpu: '500m', memory: '1Gi' },
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
    });
    await createPod(world.cluster, 'cache', {
      ...onOldNode,
      requests: { cpu: '250m' },
      volumes: [{ name: 'scratch', ephemeral: { volumeClaimTemplate: { spec: {} } } }],
    });
    await world.cluster.send('POST', '/api/v1/namespaces/kube-system/pods', {
      metadata: {
        name: 'agent',
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'u', controller: true }],
      },
      spec: {
        ...onOldNode,
        containers: [{ name: 'main', image: 'x', resources: { requests: { cpu: '100m', memory: '128Mi' } } }],
      },
    });
    await createPod(world.cluster, 'elsewhere', { nodeName: 'aks-other', requests: { cpu: '8' } });
    await createPod(world.cluster, 'done', { ...onOldNode, requests: { cpu: '8' } });
    await world.cluster.send('PATCH', '/api/v1/namespaces/default/pods/done/status', {
      status: { phase: 'Succeeded' },
    });

    const shape = await readShape(world.environment, await machine());
    expect(shape).toEqual({ requests: { cpu: 0.85, memory: 1152 * mib, pods: 3 }, zones: ['westus2-1'] });
  });

  it('minds no zone when a claim or a volume is not there', async () => {
    world = await startLauncherWorld();
    await createPod(world.cluster, 'waiting', {
      ...onOldNode,
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'not-yet' } }],
    });
    expect(await readShape(world.environment, await machine())).toEqual({ requests: { pods: 1 }, zones: undefined });
  });
});

describe('the choice of offerings', () => {
  it('is made from ARM’s own list, which is read once', async () => {
    world = await startLauncherWorld({
      requirements: [
        { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] },
        { key: 'karpenter.azure.com/sku-family', operator: 'In', values: ['D', 'F'] },
      ],
    });
    const shape = { requests: { cpu: 1.1, memory: 3000 * mib, pods: 2 }, zones: undefined };
    const { offerings } = await choose(shape);
    expect(offerings).toEqual([
      ownOffering,
      { ...ownOffering, instanceType: 'Standard_D2s_v5' },
      { ...ownOffering, instanceType: 'Standard_F4s_v2', zone: 'westus2-2' },
    ]);
    await choose(shape);
    const reads = world.azure.audit.entries.filter((entry) => entry.kind === 'request' && entry.path.endsWith('/skus'));
    expect(reads).toHaveLength(1);
  });

  it('goes on with the list that it has when ARM does not answer', async () => {
    world = await startLauncherWorld();
    const resourceSkus = new ResourceSkus(world.arm, 0);
    const before = await resourceSkus.list();
    expect(before.length).toBeGreaterThan(0);
    await world.azure.close();
    expect(await world.attempt(() => resourceSkus.list())).toBe(before);
    expect(world.logs).toContainEqual(expect.objectContaining({ level: 'WARN' }));
    await expect(new ResourceSkus(world.arm).list()).rejects.toThrow('list the VM sizes of westus2');
  });

  it.each<[string, string, string[]]>([
    ['in the whole location', 'Standard_E16s_v5', []],
    ['in a zone', 'Standard_F16s_v2', ['westus2-1', 'westus2-2']],
  ])('knows a size that is restricted %s', async (_, name, zones) => {
    world = await startLauncherWorld({
      requirements: [
        { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] },
        { key: 'node.kubernetes.io/instance-type', operator: 'In', values: [name] },
      ],
    });
    const { offerings } = await choose({ requests: { cpu: 1 }, zones: undefined });
    expect(offerings.map(({ zone }) => zone)).toEqual(zones);
  });

  it('says what was wanted, and what is unavailable, when nothing fits', async () => {
    world = await startLauncherWorld({
      requirements: [{ key: 'node.kubernetes.io/instance-type', operator: 'In', values: [ownOffering.instanceType] }],
    });
    const until = '2999-01-01T00:00:00.000Z';
    await world.cluster.api.core.createNamespacedConfigMap({
      namespace: 'kube-system',
      body: {
        metadata: { name: 'driftless-unavailable-offerings' },
        data: { 'Standard_D2as_v5.any.any': JSON.stringify({ until, code: 'AllocationFailed' }) },
      },
    });
    expect(await choose({ requests: { cpu: 1.1, pods: 2 }, zones: ['westus2-1'] })).toEqual({
      offerings: [],
      wanted: `cpu 1100m, pods 2, in westus2-1 for its volumes; unavailable until ${until}: Standard_D2as_v5.any.any (AllocationFailed)`,
    });
  });
});
