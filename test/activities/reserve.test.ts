import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import type { ActivityEnvironment } from '../../activities/environment.js';
import { readNodeClaim } from '../../activities/kubernetes/nodeClaims.js';
import { readNode } from '../../activities/kubernetes/nodes.js';
import { release } from '../../activities/release.js';
import { reserve } from '../../activities/reserve.js';
import { getCondition } from '../../karpenter/conditions.js';
import {
  disruptedTaint,
  initializedLabel,
  managedAnnotation,
  ownerAnnotation,
  workflowAnnotation,
} from '../../karpenter/labels.js';
import type { ReplacementRef } from '../../workflows/replacementTypes.js';
import { eventually } from '../support/eventually.js';
import type { TestCluster } from '../simulator/behaviourHarness.js';
import { createPod } from '../simulator/behaviourHarness.js';
import type { Others } from '../support/interruptedApi.js';
import { letOthersIn } from '../support/interruptedApi.js';
import type { LauncherWorld } from '../support/launcherWorld.js';
import { poolName, startLauncherWorld } from '../support/launcherWorld.js';

const since = '2026-01-05T12:00:00Z';
const ready = { type: 'Ready', status: 'True', reason: 'Ready', lastTransitionTime: since };
const drifted = { type: 'Drifted', status: 'True', reason: 'ImageDrift', lastTransitionTime: since };
const claimPath = '/apis/karpenter.sh/v1/nodeclaims/old';
const nodePath = '/api/v1/nodes/aks-old';
const classPath = '/apis/karpenter.azure.com/v1beta1/aksnodeclasses';
const nodeClassRef = { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' };
const poolPath = `/apis/karpenter.sh/v1/nodepools/${poolName}`;
const onNode = { nodeName: 'aks-old' };
const podsPath = '/api/v1/namespaces/default/pods';

let world: LauncherWorld;
let cluster: TestCluster;
let environment: ActivityEnvironment;
let ref: ReplacementRef;

/** What others do around our next write of the Node. */
let others: Others;

beforeEach(async () => {
  world = await startLauncherWorld();
  ({ cluster, ref } = world);
  others = {};
  const { settings } = world.environment;
  environment = {
    ...world.environment,
    kubernetes: letOthersIn(cluster.api, () => {
      const now = others;
      others = {};
      return now;
    }),
    settings: { ...settings, candidates: { ...settings.candidates, justStartedMs: 0 } },
  };
  await cluster.send('POST', classPath, {
    apiVersion: 'karpenter.azure.com/v1beta1',
    kind: 'AKSNodeClass',
    metadata: { name: 'default' },
    spec: {},
  });
  await cluster.send('PATCH', `${classPath}/default/status`, {
    status: { conditions: [ready], images: [{ id: 'image-2', requirements: [] }] },
  });
  await cluster.send('PATCH', poolPath, { metadata: { annotations: { [managedAnnotation]: 'true' } } });
  await setDrift(drifted);
  await cluster.send('PATCH', nodePath, { metadata: { labels: { [initializedLabel]: 'true' } } });
  await createPod(cluster, 'web', onNode);
});

afterEach(() => world.close());

async function setDrift(condition: object): Promise<void> {
  await cluster.send('PATCH', `${claimPath}/status`, { status: { nodeName: 'aks-old', conditions: [condition] } });
}

const clearDrift = (): Promise<void> => setDrift({ ...drifted, status: 'False', reason: 'NotDrifted' });

async function taintKeys(): Promise<string[]> {
  const node = await readNode(cluster.api, 'aks-old');
  return (node?.spec?.taints ?? []).map(({ key }) => key);
}

/** How often the Node has been given our taint. */
function taintings(): number {
  return cluster.simulator.audit.entries.filter(
    ({ verb, resource, object, userAgent }) =>
      userAgent === cluster.api.userAgent &&
      verb === 'patch' &&
      resource === 'nodes' &&
      JSON.stringify(object ?? {}).includes(disruptedTaint),
  ).length;
}

/** Nothing of ours is left on the node. */
async function expectUndone(): Promise<void> {
  await release(environment, ref);
  expect(await taintKeys()).toEqual([]);
  const node = await readNode(cluster.api, 'aks-old');
  expect(node?.metadata.annotations?.[workflowAnnotation]).toBeUndefined();
  expect(node?.metadata.annotations?.[ownerAnnotation]).toBeUndefined();
  const nodeClaim = await readNodeClaim(cluster.api, 'old');
  expect(nodeClaim && getCondition(nodeClaim, 'DisruptionReason')).toBeUndefined();
}

describe('reserve', () => {
  it('taints the node with our mark, says why on its NodeClaim, and fixes image and offerings', async () => {
    expect(await reserve(environment, ref)).toMatchObject({ kind: 'reserved', imageId: 'image-2' });
    expect(await taintKeys()).toEqual([disruptedTaint]);
    const nodeClaim = await readNodeClaim(cluster.api, 'old');
    expect(nodeClaim && getCondition(nodeClaim, 'DisruptionReason')).toMatchObject({
      status: 'True',
      reason: 'Drifted',
    });
    await expectUndone();
  });

  it('needs no replacement where no pod has to move', async () => {
    await cluster.send('DELETE', `${podsPath}/web`, { gracePeriodSeconds: 0 });
    expect(await reserve(environment, ref)).toMatchObject({ kind: 'empty', earlier: [] });
  });

  it('r055: replaces an empty node of a static pool all the same, which keeps its number of nodes', async () => {
    // What is not static cannot become so.
    await cluster.send('DELETE', poolPath);
    await cluster.send('POST', '/apis/karpenter.sh/v1/nodepools', {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodePool',
      metadata: { name: poolName, annotations: { [managedAnnotation]: 'true' } },
      spec: { replicas: 1, template: { spec: { nodeClassRef, requirements: [] } } },
    });
    await cluster.send('DELETE', `${podsPath}/web`, { gracePeriodSeconds: 0 });
    expect(await reserve(environment, ref)).toMatchObject({ kind: 'reserved' });
  });

  it('r036: taints nothing when the drift has cleared before the first step', async () => {
    await clearDrift();
    expect(await reserve(environment, ref)).toEqual({ kind: 'notNeeded', why: 'it is no longer Drifted' });
    expect(taintings()).toBe(0);
  });

  it('r036: finds out when the drift clears between the taint and the create; the taint is taken off', async () => {
    others = { after: clearDrift };
    expect(await reserve(environment, ref)).toEqual({ kind: 'notNeeded', why: 'it is no longer Drifted' });
    expect(taintings()).toBe(1);
    await expectUndone();
  });

  it('r040: taints nothing while the NodeClass is not Ready', async () => {
    await cluster.send('PATCH', `${classPath}/default/status`, {
      status: { conditions: [{ ...ready, status: 'False', reason: 'SubnetNotFound' }] },
    });
    expect(await reserve(environment, ref)).toEqual({
      kind: 'notNeeded',
      why: 'AKSNodeClass default is not Ready: SubnetNotFound',
    });
    expect(taintings()).toBe(0);
  });

  it.each<[string, () => Promise<void>, string]>([
    [
      'a pod that must not be disturbed comes',
      async () => {
        await createPod(cluster, 'kept', onNode);
        await cluster.send('PATCH', `${podsPath}/kept`, {
          metadata: { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } },
        });
      },
      'pod default/kept is annotated karpenter.sh/do-not-disrupt',
    ],
    [
      'a person protects the node',
      () => cluster.send('PATCH', nodePath, { metadata: { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } } }),
      'its Node is annotated karpenter.sh/do-not-disrupt',
    ],
    [
      'the pool is taken back',
      () =>
        cluster.send('PATCH', poolPath, {
          metadata: { annotations: { [managedAnnotation]: null } },
        }),
      'NodePool general-purpose is not annotated driftless.dev/managed: "true"',
    ],
  ])('r048: looks again after the taint, and takes it off when %s meanwhile', async (_, meanwhile, why) => {
    others = { after: meanwhile };
    expect(await reserve(environment, ref)).toEqual({ kind: 'notNeeded', why });
    expect(taintings()).toBe(1);
    await expectUndone();
  });

  it('r048: does not begin with a node to which a pod is nominated', async () => {
    await createPod(cluster, 'coming');
    await cluster.send('PATCH', `${podsPath}/coming/status`, { status: { nominatedNodeName: 'aks-old' } });
    await eventually(() => {
      expect(environment.pods.get('default/coming')?.status?.nominatedNodeName).toBe('aks-old');
    });
    expect(await reserve(environment, ref)).toEqual({
      kind: 'notNeeded',
      why: 'pod default/coming is nominated to its Node',
    });
    expect(taintings()).toBe(0);
  });

  it('r044: reads again when another controller has written in between, and overwrites nothing of it', async () => {
    const theirs = { key: 'theirs', effect: 'NoSchedule' };
    others = { before: () => cluster.send('PATCH', nodePath, { spec: { unschedulable: true, taints: [theirs] } }) };
    expect(await reserve(environment, ref)).toMatchObject({ kind: 'reserved' });
    const conflicts = cluster.simulator.audit.entries.filter(
      ({ status, resource }) => status === 409 && resource === 'nodes',
    );
    expect(conflicts).toHaveLength(1);
    expect(await taintKeys()).toEqual(['theirs', disruptedTaint]);
    await release(environment, ref);
    // r052: a cordon is a person's; the taint of ours is told from it.
    const node = await readNode(cluster.api, 'aks-old');
    expect(node?.spec).toMatchObject({ unschedulable: true, taints: [theirs] });
  });

  it('r044: decides again when another one has begun to disrupt the node in between', async () => {
    const taint = { key: disruptedTaint, effect: 'NoSchedule' };
    others = { before: () => cluster.send('PATCH', nodePath, { spec: { taints: [taint] } }) };
    await expect(reserve(environment, ref)).rejects.toThrow('Node aks-old is being disrupted by somebody else');
    await release(environment, ref);
    expect(await taintKeys()).toEqual([disruptedTaint]);
  });
});
