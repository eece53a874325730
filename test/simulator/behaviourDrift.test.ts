import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import type { NodeClaim } from '../../karpenter/api.js';
import { nodeClaimSchema, nodeClassSchema } from '../../karpenter/api.js';
import { getCondition } from '../../karpenter/conditions.js';
import type { TestCluster } from './behaviourHarness.js';
import { eventually } from '../support/eventually.js';
import { startTestCluster } from './behaviourHarness.js';

const classesPath = '/apis/karpenter.azure.com/v1beta1/aksnodeclasses';
const claimsPath = '/apis/karpenter.sh/v1/nodeclaims';
/** What others do not wait for. */
const slowMs = 3_000;
let cluster: TestCluster;

beforeEach(async () => {
  cluster = await startTestCluster();
  await cluster.play(['drift']);
});
afterEach(async () => {
  await cluster.close();
});

async function createClass(name: string, imageFamily: string): Promise<string> {
  await cluster.send('POST', classesPath, {
    apiVersion: 'karpenter.azure.com/v1beta1',
    kind: 'AKSNodeClass',
    metadata: { name },
    spec: { imageFamily },
  });
  return imageOf(name, () => true);
}

function imageOf(name: string, isWanted: (id: string) => boolean): Promise<string> {
  return eventually(async () => {
    const nodeClass = nodeClassSchema.parse(
      await cluster.api.custom.getClusterCustomObject({
        group: 'karpenter.azure.com',
        version: 'v1beta1',
        plural: 'aksnodeclasses',
        name,
      }),
    );
    const id = nodeClass.status?.images?.[0]?.id;
    if (id === undefined || !isWanted(id)) throw new Error(`${name} has image ${String(id)}`);
    expect(getCondition(nodeClass, 'Ready')?.status).toBe('True');
    return id;
  });
}

async function createClaim(name: string, nodeClass: string, status: object, metadata: object = {}): Promise<void> {
  await cluster.send('POST', claimsPath, {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name, ...metadata },
    spec: { nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: nodeClass }, requirements: [] },
  });
  await cluster.send('PATCH', `${claimsPath}/${name}/status`, { status });
}

async function claim(name: string): Promise<NodeClaim> {
  return nodeClaimSchema.parse(
    await cluster.api.custom.getClusterCustomObject({
      group: 'karpenter.sh',
      version: 'v1',
      plural: 'nodeclaims',
      name,
    }),
  );
}

function drifted(name: string): Promise<NodeClaim> {
  return eventually(async () => {
    const found = await claim(name);
    expect(getCondition(found, 'Drifted')?.status).toBe('True');
    return found;
  });
}

function undrifted(name: string): Promise<NodeClaim> {
  return eventually(async () => {
    const found = await claim(name);
    expect(getCondition(found, 'Drifted')).toBeUndefined();
    return found;
  });
}

function changeFamily(name: string, imageFamily: string): Promise<void> {
  return cluster.send('PATCH', `${classesPath}/${name}`, { spec: { imageFamily } });
}

const launched = {
  type: 'Launched',
  status: 'True',
  reason: 'Launched',
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
};

describe('the marking of drift', () => {
  it('says which image a NodeClaim has and which one it should have, keeps other conditions, and takes it back', async () => {
    const ubuntu = await createClass('default', 'Ubuntu2204');
    expect(ubuntu).toMatch(/^\/CommunityGalleries\/AKSUbuntu-.*\/images\/2204gen2containerd\/versions\/\d+\.\d+\.\d+$/);
    await createClaim('claim', 'default', { imageID: ubuntu, conditions: [launched] });
    await changeFamily('default', 'AzureLinux');
    const azureLinux = await imageOf('default', (id) => id.includes('AKSAzureLinux'));
    const marked = await drifted('claim');
    const condition = getCondition(marked, 'Drifted');
    expect(condition?.reason).toBe('ImageDrift');
    expect(condition?.message).toContain(ubuntu);
    expect(condition?.message).toContain(azureLinux);
    expect(Date.now() - Date.parse(condition?.lastTransitionTime ?? '')).toBeLessThan(10_000);
    expect(getCondition(marked, 'Launched')).toMatchObject(launched);

    await changeFamily('default', 'Ubuntu2204');
    const restored = await undrifted('claim');
    expect(restored.status?.conditions).toEqual([launched]);
  });

  it('marks all claims of a changed class, none after another, and no others', async () => {
    const image = await createClass('changing', 'Ubuntu2204');
    await createClass('steady', 'Ubuntu2204');
    const names = Array.from({ length: 10 }, (_, index) => `claim-${index}`);
    for (const name of names) await createClaim(name, 'changing', { imageID: image });
    await createClaim('steady-claim', 'steady', { imageID: image });
    await createClaim('not-launched', 'changing', {});
    await createClaim('leaving', 'changing', { imageID: image }, { finalizers: ['karpenter.sh/termination'] });
    await cluster.send('DELETE', `${claimsPath}/leaving`);

    const [first = ''] = names;
    const userAgent = 'driftless-simulator/drift';
    cluster.simulator.addFault({ verb: 'patch', name: `^${first}$`, userAgent, then: { kind: 'delay', ms: slowMs } });
    await changeFamily('changing', 'AzureLinux');
    for (const name of names) await drifted(name);
    const marks = cluster.simulator.audit.entries.filter(
      (entry) =>
        entry.resource === 'nodeclaims' &&
        entry.userAgent === userAgent &&
        entry.verb === 'patch' &&
        entry.status === 200,
    );
    expect(marks.map(({ name }) => name).sort()).toEqual(names);
    expect(marks.at(-1)?.name).toBe(first);
  });

  it('does not undo what others write to the conditions meanwhile', async () => {
    const image = await createClass('default', 'Ubuntu2204');
    const names = Array.from({ length: 10 }, (_, index) => `claim-${index}`);
    for (const name of names) await createClaim(name, 'default', { imageID: image, conditions: [launched] });
    const registered = { ...launched, type: 'Registered', reason: 'Registered' };
    await Promise.all([
      changeFamily('default', 'AzureLinux'),
      ...names.map((name) =>
        cluster.send('PATCH', `${claimsPath}/${name}/status`, { status: { conditions: [launched, registered] } }),
      ),
    ]);
    for (const name of names) {
      const { status } = await drifted(name);
      expect(status?.conditions?.map(({ type }) => type).sort()).toEqual(['Drifted', 'Launched', 'Registered']);
    }
  });

  it('says of a family that is unknown that the class is not Ready', async () => {
    await cluster.send('POST', classesPath, {
      apiVersion: 'karpenter.azure.com/v1beta1',
      kind: 'AKSNodeClass',
      metadata: { name: 'odd' },
      spec: { imageFamily: 'Windows95' },
    });
    await eventually(async () => {
      const resource = { group: 'karpenter.azure.com', version: 'v1beta1', plural: 'aksnodeclasses', name: 'odd' };
      const nodeClass = nodeClassSchema.parse(await cluster.api.custom.getClusterCustomObject(resource));
      expect(getCondition(nodeClass, 'Ready')).toMatchObject({ status: 'False', reason: 'ImagesNotFound' });
    });
  });
});
