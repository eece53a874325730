import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { viewClusterFromCache } from '../../activities/clusterView.js';
import { Grants } from '../../activities/grants.js';
import { readNode } from '../../activities/kubernetes/nodes.js';
import { applyMarkChanges } from '../../activities/markWaiting.js';
import { readPool } from '../../activities/readPool.js';
import { disruptedTaint, nodePoolLabel, waitingTaint, workflowAnnotation } from '../../karpenter/labels.js';
import type { TestCluster } from '../simulator/behaviourHarness.js';
import { createNode } from '../simulator/behaviourHarness.js';
import { eventually } from '../support/eventually.js';
import type { LauncherWorld } from '../support/launcherWorld.js';
import { startLauncherWorld } from '../support/launcherWorld.js';

const nodeClassRef = { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' };
const disrupted = { key: disruptedTaint, effect: 'NoSchedule' };
const waiting = { key: waitingTaint, effect: 'PreferNoSchedule' };
const theirs = { key: 'theirs', value: 'x', effect: 'NoExecute' };

let world: LauncherWorld;
let cluster: TestCluster;

beforeEach(async () => {
  world = await startLauncherWorld();
  ({ cluster } = world);
});

afterEach(() => world.close());

async function createNodeClaim(name: string, pool: string, status: object = {}): Promise<void> {
  await cluster.send('POST', '/apis/karpenter.sh/v1/nodeclaims', {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name, labels: { [nodePoolLabel]: pool } },
    spec: { nodeClassRef, requirements: [] },
  });
  await cluster.send('PATCH', `/apis/karpenter.sh/v1/nodeclaims/${name}/status`, {
    status: { nodeName: name, ...status },
  });
}

/** A Node in the hands of a replacement of ours. */
async function createMoving(name: string, pool: string): Promise<void> {
  await createNode(cluster, name, { labels: { [nodePoolLabel]: pool }, taints: [disrupted] });
  await cluster.send('PATCH', `/api/v1/nodes/${name}`, {
    metadata: { annotations: { [workflowAnnotation]: `replace/c/${name}` } },
  });
}

describe('a look at a pool', () => {
  async function requestsFor(nodes: number): Promise<string[]> {
    for (let index = 0; index < nodes; index += 1) {
      await createNodeClaim(`n-${nodes}-${index}`, 'pool');
      await createNode(cluster, `n-${nodes}-${index}`, { labels: { [nodePoolLabel]: 'pool' } });
    }
    const before = cluster.simulator.audit.entries.length;
    const pool = await readPool(world.environment, 'pool');
    expect(pool?.machines.every(({ node }) => node !== undefined)).toBe(true);
    return cluster.simulator.audit.entries
      .slice(before)
      .filter(({ verb, userAgent }) => verb !== 'watch' && userAgent === cluster.api.userAgent)
      .map(({ verb, resource }) => `${verb} ${resource}`)
      .sort();
  }

  it('r045: costs as many requests for a large pool as for a small one', async () => {
    await cluster.send('POST', '/apis/karpenter.sh/v1/nodepools', {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodePool',
      metadata: { name: 'pool' },
      spec: { template: { spec: { nodeClassRef, requirements: [] } } },
    });
    const forTwo = await requestsFor(2);
    expect(forTwo).toEqual(['get aksnodeclasses', 'get nodepools', 'list nodeclaims', 'list nodes']);
    expect(await requestsFor(30)).toEqual(forTwo);
  });

  it('finds no pool of that name', async () => {
    expect(await readPool(world.environment, 'pool')).toBeUndefined();
  });
});

describe('what other pools leave of the cluster-wide cap', () => {
  it('is the cap less the nodes that we disrupt there, until their instance terminates', async () => {
    await createMoving('moving', 'other');
    await createMoving('leaving', 'other');
    await createNodeClaim('leaving', 'other', {
      conditions: [
        { type: 'InstanceTerminating', status: 'True', reason: 'x', lastTransitionTime: '2026-01-05T12:00:00Z' },
      ],
    });
    await createMoving('own', 'pool');
    await createNode(cluster, 'theirs', { labels: { [nodePoolLabel]: 'other' }, taints: [disrupted] });
    await createNode(cluster, 'quiet', { labels: { [nodePoolLabel]: 'other' } });
    const { environment } = world;
    await eventually(() => {
      for (const name of ['moving', 'leaving', 'own']) {
        expect(environment.nodes.get(name)?.metadata.annotations?.[workflowAnnotation]).toBeDefined();
      }
      expect(environment.nodeClaims.get('leaving')?.status?.conditions).toHaveLength(1);
      expect(environment.nodes.get('quiet')?.status?.conditions).toBeDefined();
    });
    const { maxDisruptedNodes } = environment.settings;
    expect(viewClusterFromCache(environment, new Grants(), 'pool', 0)).toEqual({
      room: maxDisruptedNodes - 1,
      movesControlPlane: false,
    });
    expect(viewClusterFromCache(environment, new Grants(), 'other', 0).room).toBe(maxDisruptedNodes - 1);
    expect(viewClusterFromCache(environment, new Grants(), 'third', 0).room).toBe(maxDisruptedNodes - 2);
  });

  it('says whether our own pods move there', async () => {
    await createMoving('moving', 'other');
    await cluster.send('POST', '/api/v1/namespaces/default/pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'worker', labels: { 'app.kubernetes.io/name': 'driftless' } },
      spec: { nodeName: 'moving', containers: [{ name: 'main', image: 'driftless:1' }] },
    });
    const { environment } = world;
    await eventually(() => {
      expect(environment.nodes.get('moving')?.metadata.annotations?.[workflowAnnotation]).toBeDefined();
      expect(environment.pods.get('default/worker')).toBeDefined();
    });
    expect(viewClusterFromCache(environment, new Grants(), 'pool', 0).movesControlPlane).toBe(true);
    expect(viewClusterFromCache(environment, new Grants(), 'other', 0).movesControlPlane).toBe(false);
  });
});

describe('the soft taint', () => {
  const taintsOf = async (name: string) => (await readNode(cluster.api, name))?.spec?.taints ?? [];
  const patches = (): number => cluster.simulator.audit.entries.filter(({ verb }) => verb === 'patch').length;

  it('is put on and taken off, and other taints stay', async () => {
    await createNode(cluster, 'a', { taints: [theirs] });
    await createNode(cluster, 'b', { taints: [waiting, theirs] });
    await applyMarkChanges(cluster.api, [
      { node: 'a', isWaiting: true },
      { node: 'b', isWaiting: false },
      { node: 'gone', isWaiting: true },
    ]);
    expect(await taintsOf('a')).toEqual([theirs, waiting]);
    expect(await taintsOf('b')).toEqual([theirs]);
  });

  it('is not written where it is as it should be by now', async () => {
    await createNode(cluster, 'a', { taints: [waiting] });
    await createNode(cluster, 'b');
    const before = patches();
    await applyMarkChanges(cluster.api, [
      { node: 'a', isWaiting: true },
      { node: 'b', isWaiting: false },
    ]);
    expect(patches()).toBe(before);
  });

  it('is written to many nodes', async () => {
    const names = Array.from({ length: 23 }, (_, index) => `n-${index}`);
    for (const name of names) await createNode(cluster, name);
    await applyMarkChanges(
      cluster.api,
      names.map((node) => ({ node, isWaiting: true })),
    );
    expect(await Promise.all(names.map(taintsOf))).toEqual(names.map(() => [waiting]));
  });
});
