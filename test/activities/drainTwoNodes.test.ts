import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import type { KubernetesObject } from '../../simulator/cluster/objects.js';
import { createDeployment } from '../simulator/behaviourHarness.js';
import type { DrainedNode } from '../support/drainActivity.js';
import { DrainCluster } from '../support/drainCluster.js';
import { eventually } from '../support/eventually.js';

let drains: DrainCluster;
let nodes: readonly DrainedNode[];

beforeAll(async () => {
  drains = await DrainCluster.start();
  await drains.cluster.play(['scheduler', 'deployment', 'replicaSet', 'podDisruptionBudget']);
  drains.runWhatIsBound();
  drains.endWhatTerminates();
  nodes = [await drains.node('a', { isUntainted: true }), await drains.node('b', { isUntainted: true })];
  await createDeployment(drains.cluster, 'pair', 2);
  await drains.cluster.send('POST', '/apis/policy/v1/namespaces/default/poddisruptionbudgets', {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'pair' },
    spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'pair' } } },
  });
  await eventually(async () => {
    const { status } = await drains.cluster.api.policy.readNamespacedPodDisruptionBudget({
      name: 'pair',
      namespace: 'default',
    });
    expect(status).toMatchObject({ currentHealthy: 2, disruptionsAllowed: 1 });
  });
});
afterAll(async () => {
  await drains.stop();
});

function isHealthy(pod: KubernetesObject): boolean {
  return (
    pod.metadata.deletionTimestamp === undefined && JSON.stringify(pod['status']).includes('"Ready","status":"True"')
  );
}

/** The least number of healthy pods of an app that the audit log shows since an instant. */
function leastHealthy(app: string, sinceMs: number): number {
  const healthy = new Set<string>();
  let least = Infinity;
  for (const { resource, object, removed, at } of drains.cluster.simulator.audit.entries) {
    if (resource !== 'pods' || object?.metadata.labels?.['app'] !== app) continue;
    if (removed !== true && isHealthy(object)) healthy.add(object.metadata.uid);
    else healthy.delete(object.metadata.uid);
    if (at >= sinceMs) least = Math.min(least, healthy.size);
  }
  return least;
}

describe('two nodes with one replica each of a service', () => {
  it('r165: are drained at once, the second when the first replica is back, and the budget holds at every instant', async () => {
    const [one = '', other = ''] = await Promise.all(
      nodes.map(async ({ ref }) => (await drains.podNames(ref.node))[0]),
    );
    expect(one).toMatch(/^pair-/);
    expect(other).toMatch(/^pair-/);
    for (const node of nodes) await drains.taint(node);
    const startedAtMs = Date.now();
    const ends = await Promise.all(nodes.map((node) => drains.begin(node).until()));
    expect(ends).toEqual([{ kind: 'drained' }, { kind: 'drained' }]);
    expect(leastHealthy('pair', startedAtMs)).toBe(1);
    const accepted = drains.requestsAbout(one, other).filter((line) => line.endsWith(' 201'));
    expect(accepted).toHaveLength(2);
    expect(drains.requestsAbout(one, other).some((line) => line.endsWith(' 429'))).toBe(true);
    await eventually(async () => {
      const places = await Promise.all(nodes.map(({ launch }) => drains.podNames(launch?.virtualMachine ?? '')));
      expect(places.flat()).toHaveLength(2);
    });
  });
});
