import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { createLog } from '../../runtime/log.js';
import { startAzureSimulator } from '../../simulator/azure/azureSimulator.js';
import { behaviourNames } from '../../simulator/behaviour/behaviours.js';
import type { TestCluster } from './behaviourHarness.js';
import { eventually } from '../support/eventually.js';
import { createDeployment, startTestCluster, testMachine, TestMachineFeed } from './behaviourHarness.js';

const namespace = 'default';
const log = createLog('behaviour-test', 'silent');
let cluster: TestCluster;

beforeEach(async () => {
  cluster = await startTestCluster();
});
afterEach(async () => {
  await cluster.close();
});

describe('the behaviours', () => {
  it('get there all the same when the API server fails, loses answers and ends watches', async () => {
    const feed = await TestMachineFeed.start();
    cluster.closesWithIt(feed);
    const { simulator } = cluster;
    simulator.addFault({ verb: 'create', resource: 'nodes', then: { kind: 'lostResponse' } });
    simulator.addFault({ verb: 'patch', resource: 'nodes', then: { kind: 'reset' } });
    simulator.addFault({ verb: 'create', resource: 'pods', count: 2, then: { kind: 'fail', status: 500 } });
    simulator.addFault({ verb: 'create', resource: 'pods', after: 2, then: { kind: 'lostResponse' } });
    simulator.addFault({ verb: 'bind', count: 2, then: { kind: 'lostResponse' } });
    simulator.addFault({ verb: 'bind', after: 4, count: 2, then: { kind: 'fail', status: 503 } });
    simulator.addFault({ verb: 'patch', resource: 'pods', count: 2, then: { kind: 'fail', status: 409 } });
    simulator.addFault({ verb: 'watch', resource: 'pods', then: { kind: 'end' } });
    await cluster.play(behaviourNames, { machines: feed.options, log });
    for (const name of ['aks-a', 'aks-b', 'aks-c', 'aks-d']) feed.switchOn(testMachine(name));
    await createDeployment(cluster, 'web', 12, { cpu: '1300m' });
    const pods = await eventually(async () => {
      const { items } = await cluster.api.core.listNamespacedPod({ namespace });
      expect(items).toHaveLength(12);
      for (const { status } of items) expect(status?.phase).toBe('Running');
      return items;
    });
    for (const node of ['aks-a', 'aks-b', 'aks-c', 'aks-d']) {
      expect(pods.filter(({ spec }) => spec?.nodeName === node)).toHaveLength(3);
    }
  });

  it('follow the machines of the ARM simulator', async () => {
    const arm = await startAzureSimulator({
      subscriptionId: '11111111-2222-3333-4444-555555555555',
      resourceGroups: ['MC_demo'],
      location: 'westus2',
      token: 'arm',
      speed: 100,
      vmCreateMs: 1_000,
      vmDeleteMs: 1_000,
    });
    cluster.closesWithIt(arm);
    arm.seedVirtualMachine('MC_demo', 'aks-seeded', {
      location: 'westus2',
      zones: ['2'],
      hardwareProfile: { vmSize: 'Standard_D2s_v5' },
      osProfile: { customData: Buffer.from('KUBELET_NODE_LABELS=team=blue').toString('base64') },
      networkProfile: {
        networkInterfaceConfigurations: [
          { name: 'aks-seeded', ipConfigurations: [{ name: 'ipconfig1', subnet: { id: 'subnet' } }] },
        ],
      },
    });
    await cluster.play(['kubelet', 'nodeLifecycle'], {
      machines: { endpoint: arm.endpoint, caPem: arm.caPem, token: 'arm' },
    });
    const node = await eventually(async () => {
      const found = await cluster.api.core.readNode({ name: 'aks-seeded' });
      expect(found.status?.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('True');
      return found;
    });
    expect(node.metadata?.labels).toMatchObject({ team: 'blue', 'topology.kubernetes.io/zone': 'westus2-2' });
    expect(node.spec?.providerID).toBe(
      'azure:///subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/MC_demo/providers/Microsoft.Compute/virtualMachines/aks-seeded',
    );
  });
});
