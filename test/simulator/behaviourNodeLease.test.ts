import { afterEach, beforeEach, expect, it } from '@jest/globals';

import { eventually } from '../support/eventually.js';
import type { TestCluster } from './behaviourHarness.js';
import { startTestCluster, testMachine, TestMachineFeed } from './behaviourHarness.js';

let cluster: TestCluster;
let feed: TestMachineFeed;

beforeEach(async () => {
  cluster = await startTestCluster();
  feed = await TestMachineFeed.start();
  cluster.closesWithIt(feed);
});
afterEach(async () => {
  await cluster.close();
});

it('the kubelet of a machine holds the Lease of its Node, which goes with the Node', async () => {
  await cluster.play(['kubelet', 'nodeLease'], { machines: feed.options });
  const machine = testMachine('aks-claim-1');
  feed.switchOn(machine);
  const node = await eventually(() => cluster.api.core.readNode({ name: machine.name }));
  const lease: unknown = await eventually(() =>
    cluster.api.custom.getNamespacedCustomObject({
      group: 'coordination.k8s.io',
      version: 'v1',
      namespace: 'kube-node-lease',
      plural: 'leases',
      name: machine.name,
    }),
  );
  expect(lease).toMatchObject({
    metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: machine.name, uid: node.metadata?.uid }] },
    spec: { holderIdentity: machine.name, leaseDurationSeconds: 40, renewTime: expect.stringMatching(/\.\d{6}Z$/) },
  });
});
