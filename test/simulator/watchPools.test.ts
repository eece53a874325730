import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { KillSwitch } from '../../activities/killSwitch.js';
import { Informer } from '../../activities/kubernetes/informer.js';
import { nodeClaimCollection } from '../../activities/kubernetes/nodeClaims.js';
import { nodeClassCollection, nodePoolCollection } from '../../activities/kubernetes/nodePools.js';
import { nodeCollection } from '../../activities/kubernetes/nodes.js';
import { podDisruptionBudgetCollection } from '../../activities/kubernetes/podDisruptionBudgets.js';
import { podCollection } from '../../activities/kubernetes/pods.js';
import { watchPools } from '../../client/watcher/watchPools.js';
import { initializedLabel, managedAnnotation, nodePoolLabel, workflowAnnotation } from '../../karpenter/labels.js';
import { createLog } from '../../runtime/log.js';
import { eventually } from '../support/eventually.js';
import type { TestCluster } from './behaviourHarness.js';
import { startTestCluster } from './behaviourHarness.js';

const karpenterPath = '/apis/karpenter.sh/v1';
const azurePath = '/apis/karpenter.azure.com/v1beta1';
const podsPath = '/api/v1/namespaces/default/pods';
const budgetsPath = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
const nodeClassRef = { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' };
const killSwitchName = { namespace: 'kube-system', name: 'driftless' };
const since = '2026-01-05T12:00:00Z';
const drifted = { type: 'Drifted', status: 'True', reason: 'ImageDrift', lastTransitionTime: since };
const ready = { type: 'Ready', status: 'True', lastTransitionTime: since };
const notReady = { ...ready, status: 'False' };

let cluster: TestCluster;
let pokes: string[];
let stop: () => Promise<void>;

beforeEach(async () => {
  cluster = await startTestCluster();
  pokes = [];
  stop = () => Promise.resolve();
  await cluster.send('POST', `${azurePath}/aksnodeclasses`, {
    apiVersion: 'karpenter.azure.com/v1beta1',
    kind: 'AKSNodeClass',
    metadata: { name: 'default' },
    spec: {},
  });
  for (const name of ['pool', 'other']) await createPool(name);
});

afterEach(async () => {
  await stop();
  await cluster.close();
});

async function createPool(
  name: string,
  annotations: Record<string, string> = { [managedAnnotation]: 'true' },
): Promise<void> {
  await cluster.send('POST', `${karpenterPath}/nodepools`, {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name, annotations },
    spec: { template: { spec: { nodeClassRef, requirements: [] } } },
  });
}

interface ClaimShape {
  readonly conditions?: readonly object[];
  readonly spec?: object;
}

async function createClaim(
  name: string,
  pool: string,
  { conditions = [drifted], spec }: ClaimShape = {},
): Promise<void> {
  await cluster.send('POST', `${karpenterPath}/nodeclaims`, {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name, labels: { [nodePoolLabel]: pool } },
    spec: { nodeClassRef, requirements: [], ...spec },
  });
  await cluster.send('PATCH', `${karpenterPath}/nodeclaims/${name}/status`, {
    status: { nodeName: `aks-${name}`, conditions },
  });
}

async function createNode(name: string, pool: string, annotations: Record<string, string> = {}): Promise<void> {
  await cluster.send('POST', '/api/v1/nodes', {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: `aks-${name}`, annotations, labels: { [nodePoolLabel]: pool, [initializedLabel]: 'true' } },
  });
  await cluster.send('PATCH', `/api/v1/nodes/aks-${name}/status`, { status: { conditions: [ready] } });
}

/** A drifted machine of a pool. */
async function createMachine(name: string, pool: string, annotations: Record<string, string> = {}): Promise<void> {
  await createClaim(name, pool);
  await createNode(name, pool, annotations);
}

async function createPod(name: string, node: string, annotations: Record<string, string> = {}): Promise<void> {
  await cluster.send('POST', podsPath, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, annotations },
    spec: { nodeName: node, containers: [{ name: 'main', image: 'pause:3.10' }] },
  });
}

/** Watches from here on; answers when everything that is there has been read. */
async function watch(): Promise<void> {
  const { api } = cluster;
  const options = { retryDelayMs: 1, log: createLog('test', 'silent') };
  const sources = {
    nodePools: new Informer(api, nodePoolCollection, options),
    nodeClasses: new Informer(api, nodeClassCollection, options),
    nodeClaims: new Informer(api, nodeClaimCollection, options),
    nodes: new Informer(api, nodeCollection, options),
    pods: new Informer(api, podCollection, options),
    podDisruptionBudgets: new Informer(api, podDisruptionBudgetCollection, options),
    killSwitch: new KillSwitch(api, killSwitchName, options),
  };
  const { nodePools, nodeClasses, nodeClaims, nodes, pods, podDisruptionBudgets, killSwitch } = sources;
  const informers = [nodePools, nodeClasses, nodeClaims, nodes, pods, podDisruptionBudgets, killSwitch];
  await Promise.all(informers.map(({ synced }) => synced));
  const stopWatching = watchPools(sources, { expiryLeadMs: 0, resyncMs: 600_000 }, (pool) => pokes.push(pool));
  stop = async () => {
    stopWatching();
    await Promise.all(informers.map((informer) => informer.stop()));
  };
}

async function untilPoked(pool: string): Promise<void> {
  await eventually(() => {
    expect(pokes).toContain(pool);
  });
}

/** Watches pools of which each has a drifted machine; what they were poked for at the beginning is forgotten. */
async function watchDrifted(): Promise<void> {
  await createMachine('a', 'pool');
  await createMachine('b', 'other');
  await watch();
  expect([...new Set(pokes)].sort()).toEqual(['other', 'pool']);
  pokes.length = 0;
}

describe('at its beginning the watcher', () => {
  it('pokes the managed pools that have a disrupted NodeClaim, and no other', async () => {
    await createPool('theirs', {});
    await createClaim('a', 'pool');
    await createClaim('b', 'other', { conditions: [] });
    await createClaim('c', 'theirs');
    await createClaim('d', 'gone');
    await watch();
    expect(pokes).toEqual(['pool']);
  });
});

describe('the watcher pokes a pool when', () => {
  it.each<[string, () => Promise<void>, () => Promise<void>]>([
    [
      'a NodeClaim drifts',
      () => createClaim('c', 'pool', { conditions: [] }),
      () => cluster.send('PATCH', `${karpenterPath}/nodeclaims/c/status`, { status: { conditions: [drifted] } }),
    ],
    [
      'its drift clears',
      () => Promise.resolve(),
      () => cluster.send('PATCH', `${karpenterPath}/nodeclaims/a/status`, { status: { conditions: [] } }),
    ],
    [
      'a person wants a node replaced',
      () => createClaim('c', 'pool', { conditions: [] }),
      () =>
        cluster.send('PATCH', `${karpenterPath}/nodeclaims/c`, {
          metadata: { annotations: { 'driftless.dev/replace': 'true' } },
        }),
    ],
    [
      'its budgets change',
      () => Promise.resolve(),
      () =>
        cluster.send('PATCH', `${karpenterPath}/nodepools/pool`, {
          spec: { disruption: { budgets: [{ nodes: '5' }] } },
        }),
    ],
    [
      'a protected pod loses its annotation',
      () => createPod('p', 'aks-a', { 'karpenter.sh/do-not-disrupt': 'true' }),
      () =>
        cluster.send('PATCH', `${podsPath}/p`, { metadata: { annotations: { 'karpenter.sh/do-not-disrupt': null } } }),
    ],
    [
      'a protected pod goes',
      () => createPod('p', 'aks-a', { 'karpenter.sh/do-not-disrupt': '4h' }),
      () => cluster.send('DELETE', `${podsPath}/p`, { gracePeriodSeconds: 0 }),
    ],
    [
      'its Node is protected no more',
      () => createNode('c', 'pool', { 'karpenter.sh/do-not-disrupt': 'true' }),
      () =>
        cluster.send('PATCH', '/api/v1/nodes/aks-c', {
          metadata: { annotations: { 'karpenter.sh/do-not-disrupt': null } },
        }),
    ],
    [
      'another of its Nodes is not Ready',
      () => createNode('c', 'pool'),
      () => cluster.send('PATCH', '/api/v1/nodes/aks-c/status', { status: { conditions: [notReady] } }),
    ],
  ])('%s', async (_, before, change) => {
    await before();
    await watchDrifted();
    await change();
    await untilPoked('pool');
    expect(pokes).not.toContain('other');
  });

  it('a PodDisruptionBudget allows again: whoever it may be for', async () => {
    await cluster.send('POST', budgetsPath, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'budget' },
      spec: { selector: { matchLabels: { app: 'web' } }, minAvailable: 1 },
    });
    const allow = (disruptionsAllowed: number): Promise<void> =>
      cluster.send('PATCH', `${budgetsPath}/budget/status`, {
        status: { observedGeneration: 1, disruptionsAllowed, currentHealthy: 3, desiredHealthy: 5, expectedPods: 5 },
      });
    await allow(0);
    await watchDrifted();
    await allow(1);
    await untilPoked('pool');
    await untilPoked('other');
    const poked = pokes.length;
    // How many it allows is nobody's business: the next that it pokes for is that it allows none.
    await allow(2);
    await allow(0);
    await eventually(() => {
      expect(pokes.length).toBeGreaterThan(poked);
    });
    expect(pokes.slice(poked).sort()).toEqual(['other', 'pool']);
  });

  it('its NodeClass becomes Ready', async () => {
    const state = (condition: object): Promise<void> =>
      cluster.send('PATCH', `${azurePath}/aksnodeclasses/default/status`, { status: { conditions: [condition] } });
    await state(notReady);
    await watchDrifted();
    await state(ready);
    await untilPoked('pool');
    await untilPoked('other');
  });

  it('the kill switch is turned off again', async () => {
    const body = { metadata: { name: killSwitchName.name }, data: { paused: 'true' } };
    await cluster.api.core.createNamespacedConfigMap({ namespace: killSwitchName.namespace, body });
    await watchDrifted();
    await cluster.api.core.deleteNamespacedConfigMap(killSwitchName);
    await untilPoked('pool');
    await untilPoked('other');
  });

  it('a node of it expires', async () => {
    await createClaim('a', 'pool', { conditions: [], spec: { expireAfter: '3s' } });
    await createClaim('b', 'other', { conditions: [], spec: { expireAfter: '720h' } });
    await watch();
    expect(pokes).toEqual([]);
    await untilPoked('pool');
    expect(pokes).toEqual(['pool']);
  });

  it('a node that came later expires', async () => {
    await watch();
    await createClaim('a', 'pool', { conditions: [], spec: { expireAfter: '1s' } });
    await untilPoked('pool');
    expect(pokes).toEqual(['pool']);
  });

  it('it is deleted, though nothing is left to do: its rollout has to end', async () => {
    await watchDrifted();
    await cluster.send('DELETE', `${karpenterPath}/nodepools/pool`);
    await untilPoked('pool');
    expect(pokes).toEqual(['pool']);
  });
});

describe('the watcher pokes nobody for', () => {
  /** Events of one collection come in order: when the marker has poked, what was before it has been taken in. */
  async function expectSilence(nothing: () => Promise<void>, marker: () => Promise<void>): Promise<void> {
    await nothing();
    await marker();
    await untilPoked('other');
    expect(pokes).not.toContain('pool');
  }

  const markNode = (): Promise<void> =>
    cluster.send('PATCH', '/api/v1/nodes/aks-b/status', { status: { conditions: [notReady] } });
  const markPod = (): Promise<void> => createPod('marker', 'aks-b', { 'karpenter.sh/do-not-disrupt': 'true' });
  const markClaim = (): Promise<void> =>
    cluster.send('PATCH', `${karpenterPath}/nodeclaims/b/status`, { status: { conditions: [] } });

  it('a heartbeat of a Node', async () => {
    await watchDrifted();
    await expectSilence(async () => {
      const condition = { ...ready, lastHeartbeatTime: '2026-01-05T12:00:10Z' };
      await cluster.send('PATCH', '/api/v1/nodes/aks-a/status', { status: { conditions: [condition] } });
      await cluster.send('PATCH', '/api/v1/nodes/aks-a', { metadata: { labels: { a: 'b' } } });
    }, markNode);
  });

  it('what happens to a Node in the hands of a replacement', async () => {
    await createMachine('ours', 'pool', { [workflowAnnotation]: 'replace/cluster/ours/uid' });
    await watchDrifted();
    await expectSilence(
      () => cluster.send('PATCH', '/api/v1/nodes/aks-ours/status', { status: { conditions: [notReady] } }),
      markNode,
    );
  });

  it('pods that come, run and go', async () => {
    await watchDrifted();
    await expectSilence(async () => {
      await createPod('p', 'aks-a');
      await cluster.send('PATCH', `${podsPath}/p/status`, { status: { phase: 'Running', startTime: since } });
      await cluster.send('DELETE', `${podsPath}/p`, { gracePeriodSeconds: 0 });
    }, markPod);
  });

  it('a protected pod on a node of a pool in which nothing is to be replaced', async () => {
    await createPool('quiet');
    await createClaim('q', 'quiet', { conditions: [] });
    await createNode('q', 'quiet');
    await watchDrifted();
    await expectSilence(() => createPod('p', 'aks-q', { 'karpenter.sh/do-not-disrupt': 'true' }), markPod);
    expect(pokes).not.toContain('quiet');
  });

  it('the progress of a NodeClaim', async () => {
    await watchDrifted();
    await expectSilence(
      () =>
        cluster.send('PATCH', `${karpenterPath}/nodeclaims/a/status`, {
          status: { providerID: 'azure:///a', conditions: [drifted, { ...ready, type: 'Consolidatable' }] },
        }),
      markClaim,
    );
  });

  it('a pool that is not managed', async () => {
    await createPool('theirs', {});
    await watchDrifted();
    await expectSilence(() => createClaim('t', 'theirs'), markClaim);
    expect(pokes).not.toContain('theirs');
  });
});
