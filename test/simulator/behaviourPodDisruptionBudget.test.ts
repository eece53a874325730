import type { V1PodDisruptionBudgetStatus } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { behaviourNames } from '../../simulator/behaviour/behaviours.js';
import type { TestCluster } from './behaviourHarness.js';
import { eventually } from '../support/eventually.js';
import { createDeployment, createPod, startTestCluster, testMachine, TestMachineFeed } from './behaviourHarness.js';

const namespace = 'default';
const budgetsPath = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
let cluster: TestCluster;
let feed: TestMachineFeed;

beforeAll(async () => {
  cluster = await startTestCluster();
  feed = await TestMachineFeed.start();
  cluster.closesWithIt(feed);
  await cluster.play(behaviourNames, { machines: feed.options });
  feed.switchOn(testMachine('aks-a'));
  feed.switchOn(testMachine('aks-b'));
  await createDeployment(cluster, 'seven', 7, { cpu: '100m' });
  await eventually(async () => {
    const { status } = await cluster.api.apps.readNamespacedDeployment({ name: 'seven', namespace });
    expect(status?.readyReplicas).toBe(7);
  });
});
afterAll(async () => {
  await cluster.close();
});

async function createBudget(name: string, app: string, spec: object): Promise<void> {
  await cluster.send('POST', budgetsPath, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name },
    spec: { selector: { matchLabels: { app } }, ...spec },
  });
}

function statusOf(name: string, wanted: object): Promise<V1PodDisruptionBudgetStatus> {
  return eventually(async () => {
    const { status } = await cluster.api.policy.readNamespacedPodDisruptionBudget({ name, namespace });
    expect(status).toMatchObject(wanted);
    if (status === undefined) throw new Error(`${name} has no status`);
    return status;
  });
}

/** Seven healthy pods of one Deployment; rounding as kube-controller-manager does it: percentages up. */
const table = [
  { spec: { minAvailable: 5 }, expectedPods: 7, desiredHealthy: 5, disruptionsAllowed: 2 },
  { spec: { minAvailable: 0 }, expectedPods: 7, desiredHealthy: 0, disruptionsAllowed: 7 },
  { spec: { minAvailable: 9 }, expectedPods: 7, desiredHealthy: 9, disruptionsAllowed: 0 },
  { spec: { minAvailable: '50%' }, expectedPods: 7, desiredHealthy: 4, disruptionsAllowed: 3 },
  { spec: { minAvailable: '100%' }, expectedPods: 7, desiredHealthy: 7, disruptionsAllowed: 0 },
  { spec: { maxUnavailable: 2 }, expectedPods: 7, desiredHealthy: 5, disruptionsAllowed: 2 },
  { spec: { maxUnavailable: 0 }, expectedPods: 7, desiredHealthy: 7, disruptionsAllowed: 0 },
  { spec: { maxUnavailable: 10 }, expectedPods: 7, desiredHealthy: 0, disruptionsAllowed: 7 },
  { spec: { maxUnavailable: '30%' }, expectedPods: 7, desiredHealthy: 4, disruptionsAllowed: 3 },
  { spec: { maxUnavailable: '1%' }, expectedPods: 7, desiredHealthy: 6, disruptionsAllowed: 1 },
];

describe('the status of a PodDisruptionBudget', () => {
  it.each(table)('$spec', async ({ spec, ...wanted }) => {
    await createBudget('budget', 'seven', spec);
    const allowed = wanted.disruptionsAllowed > 0;
    await statusOf('budget', {
      ...wanted,
      currentHealthy: 7,
      observedGeneration: 1,
      conditions: [
        expect.objectContaining({
          type: 'DisruptionAllowed',
          status: allowed ? 'True' : 'False',
          reason: allowed ? 'SufficientPods' : 'InsufficientPods',
        }),
      ],
    });
    await cluster.send('DELETE', `${budgetsPath}/budget`);
  });

  it('follows the spec', async () => {
    await createBudget('changing', 'seven', { minAvailable: 5 });
    await statusOf('changing', { observedGeneration: 1, disruptionsAllowed: 2 });
    await cluster.send('PATCH', `${budgetsPath}/changing`, { spec: { minAvailable: 6 } });
    await statusOf('changing', { observedGeneration: 2, disruptionsAllowed: 1 });
    await cluster.send('DELETE', `${budgetsPath}/changing`);
  });

  it('counts pods without a controller for a number only', async () => {
    await createPod(cluster, 'bare', { requests: {} });
    await createBudget('bare-number', 'bare', { minAvailable: 1 });
    await createBudget('bare-percent', 'bare', { minAvailable: '50%' });
    await statusOf('bare-number', { expectedPods: 1, currentHealthy: 1, disruptionsAllowed: 0 });
    await statusOf('bare-percent', { expectedPods: 0, currentHealthy: 1, disruptionsAllowed: 0 });
  });

  it('allows nothing when the scale of a controller is not known', async () => {
    const ownerReferences = [
      { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'ghost', uid: 'ghost', controller: true },
    ];
    await cluster.send('POST', '/api/v1/namespaces/default/pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'haunted', labels: { app: 'haunted' }, ownerReferences },
      spec: { containers: [{ name: 'main', image: 'pause:3.10' }] },
    });
    await createBudget('haunted', 'haunted', { maxUnavailable: 1 });
    await statusOf('haunted', {
      disruptionsAllowed: 0,
      conditions: [expect.objectContaining({ type: 'DisruptionAllowed', status: 'False', reason: 'SyncFailed' })],
    });
  });

  it('goes down with an eviction, forgets the pod when it is terminating, and recovers with its replacement', async () => {
    await createDeployment(cluster, 'three', 3, { cpu: '100m' });
    await createBudget('three', 'three', { maxUnavailable: 1 });
    await statusOf('three', { currentHealthy: 3, disruptionsAllowed: 1 });
    const { items } = await cluster.api.core.listNamespacedPod({ namespace, labelSelector: 'app=three' });
    const evict = (index: number) => {
      const name = items[index]?.metadata?.name ?? '';
      return cluster.api.core.createNamespacedPodEviction({ name, namespace, body: { metadata: { name, namespace } } });
    };
    await evict(0);
    await expect(evict(1)).rejects.toMatchObject({ code: 429 });
    const recovered = await statusOf('three', { currentHealthy: 3, disruptionsAllowed: 1 });
    expect(recovered.disruptedPods ?? {}).toEqual({});
    await evict(1);
  });
});
