import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { messageOf } from '../support/drainActivity.js';
import { DrainCluster } from '../support/drainCluster.js';

const attachmentsPath = '/apis/storage.k8s.io/v1/volumeattachments';

let drains: DrainCluster;
beforeAll(async () => {
  drains = await DrainCluster.start();
});
afterAll(async () => {
  await drains.stop();
});

/** A disk that is attached to a node; a claim of that name is bound to it. */
async function attach(disk: string, nodeName: string): Promise<void> {
  await drains.cluster.send('POST', '/api/v1/namespaces/default/persistentvolumeclaims', {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: disk },
    spec: { volumeName: `pv-${disk}`, accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  });
  await drains.cluster.send('POST', attachmentsPath, {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttachment',
    metadata: { name: `csi-${disk}` },
    spec: { attacher: 'disk.csi.azure.com', nodeName, source: { persistentVolumeName: `pv-${disk}` } },
  });
}

/** What the attach/detach controller does when no pod of the node uses the disk any more. */
async function detach(disk: string): Promise<void> {
  await drains.cluster.send('DELETE', `${attachmentsPath}/csi-${disk}`);
}

function usesClaim(claimName: string) {
  return { volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }] };
}

describe('the disks of a drained node', () => {
  it('r156: are waited for after the last pod has gone', async () => {
    const node = await drains.node('disk');
    await drains.pod('disk-0', node.ref.node, { ownerKind: 'StatefulSet', spec: usesClaim('disk') });
    await attach('disk', node.ref.node);
    await attach('elsewhere', 'node-elsewhere');
    const activity = drains.begin(node);
    await activity.attempt();
    await drains.end('disk-0');
    const waits = /^no pods left; waiting until \S+ for VolumeAttachments to go: csi-disk$/;
    expect(messageOf(await activity.attempt())).toMatch(waits);
    expect(messageOf(await activity.attempt())).toMatch(waits);
    await detach('disk');
    expect(await activity.attempt()).toEqual({ kind: 'drained' });
    expect(drains.events('disk')).toEqual([]);
  });

  it('r157: are not waited for when a pod that stays uses them', async () => {
    const node = await drains.node('stays');
    const tolerations = [{ operator: 'Exists' }];
    await drains.pod('stays-0', node.ref.node, {
      ownerKind: 'DaemonSet',
      spec: { ...usesClaim('stays'), tolerations },
    });
    await drains.pod('stays-1', node.ref.node, {
      ownerKind: 'DaemonSet',
      spec: { tolerations, volumes: [{ name: 'scratch', ephemeral: { volumeClaimTemplate: {} } }] },
    });
    await attach('stays', node.ref.node);
    await attach('stays-1-scratch', node.ref.node);
    expect(await drains.begin(node).attempt()).toEqual({ kind: 'drained' });
  });

  it.each([
    { id: 'r158', disk: 'never-goes', successor: false },
    { id: 'r157', disk: 'successor-waits', successor: true },
  ])('$id: are waited for no longer than the detach timeout, and that is said', async ({ disk, successor }) => {
    const node = await drains.node(disk);
    await attach(disk, node.ref.node);
    if (successor) await drains.pod(`${disk}-0`, 'node-new', { phase: 'Pending', spec: usesClaim(disk) });
    const startedAtMs = Date.now();
    expect(await drains.begin(node, { detachTimeoutMs: 200 }).until()).toEqual({ kind: 'drained' });
    expect(Date.now() - startedAtMs).toBeGreaterThanOrEqual(200);
    expect(drains.events(disk)).toEqual([
      `DrainIncomplete node-${disk} is deleted without waiting any longer for VolumeAttachments: csi-${disk}`,
    ]);
  });

  it('r158: are not waited for beyond the drain’s own timeout, which does not fail for them', async () => {
    const node = await drains.node('late');
    await attach('late', node.ref.node);
    expect(await drains.begin(node, { drainTimeoutMs: 300 }).until()).toEqual({ kind: 'drained' });
    expect(drains.events('late')).toHaveLength(1);
  });

  it('are not waited for beyond a terminationGracePeriod', async () => {
    const node = await drains.node('graced', { terminationGracePeriod: '0s' });
    await attach('graced', node.ref.node);
    expect(await drains.begin(node).until()).toEqual({ kind: 'drained' });
  });
});
