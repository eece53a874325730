import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { forgetDeadline } from '../../activities/drain/deadline.js';
import { readNodeClaim } from '../../activities/kubernetes/nodeClaims.js';
import type { DrainedNode } from '../support/drainActivity.js';
import { messageOf } from '../support/drainActivity.js';
import { DrainCluster, protectedPod } from '../support/drainCluster.js';

let drains: DrainCluster;
beforeAll(async () => {
  drains = await DrainCluster.start();
});
afterAll(async () => {
  await drains.stop();
});

async function timestamp({ ref }: DrainedNode): Promise<string | undefined> {
  const nodeClaim = await readNodeClaim(drains.cluster.api, ref.nodeClaim);
  return nodeClaim?.metadata.annotations?.['karpenter.sh/nodeclaim-termination-timestamp'];
}

/** Two seconds of grace: it is deleted two seconds before the deadline. */
const spec = { terminationGracePeriodSeconds: 2 };

describe('a drain under a terminationGracePeriod', () => {
  it('r042: deletes a protected pod at the deadline minus its own grace, and not before', async () => {
    const node = await drains.node('graced', { terminationGracePeriod: '4s' });
    await drains.pod('graced-0', node.ref.node, { ...protectedPod, spec });
    await drains.pod('graced-pdb', node.ref.node, { spec });
    await drains.budget('graced', { app: 'graced-pdb' }, 0);
    const stop = drains.endWhatTerminates();
    const activity = drains.begin(node);
    const first = await activity.attempt();
    const deadline = (await timestamp(node)) ?? '';
    expect(Date.parse(deadline) - Date.now()).toBeGreaterThan(2_500);
    expect(messageOf(first)).toContain(`terminationGracePeriod ends at ${deadline.replace('Z', '.000Z')}`);
    expect(drains.requestsAbout('graced-0')).toEqual([]);
    expect(await activity.until()).toEqual({ kind: 'drained' });
    await stop();
    expect(drains.requestsAbout('graced-0')).toEqual(['delete graced-0 1']);
    expect(drains.requestsAbout('graced-pdb').at(-1)).toBe('delete graced-pdb 1');
    const deletion = drains.cluster.simulator.audit.entries.find(
      ({ verb, name }) => verb === 'delete' && name === 'graced-0',
    );
    const earlyMs = Date.parse(deadline) - (deletion?.at ?? 0);
    expect(earlyMs).toBeLessThanOrEqual(2_000);
    expect(earlyMs).toBeGreaterThan(0);
    // Written once: a later attempt has not moved it.
    expect(await timestamp(node)).toBe(deadline);
    expect(drains.events('graced')).toContainEqual(
      `TerminationGracePeriodExpiring All pods will be deleted by ${deadline}`,
    );
  });

  it('lets a pod go gracefully as long as there is time', async () => {
    const node = await drains.node('in-time', { terminationGracePeriod: '1h' });
    await drains.pod('in-time-0', node.ref.node);
    await drains.begin(node).attempt();
    expect(drains.requestsAbout('in-time-0')).toEqual(['evict in-time-0 201']);
  });

  it('cuts a termination short that would last beyond the deadline', async () => {
    const node = await drains.node('short', { terminationGracePeriod: '5s' });
    await drains.pod('short-0', node.ref.node, { spec: { terminationGracePeriodSeconds: 600 } });
    await drains.cluster.send('DELETE', '/api/v1/namespaces/default/pods/short-0');
    const activity = drains.begin(node);
    await activity.attempt();
    expect(drains.requestsAbout('short-0')).toEqual([expect.stringMatching(/^delete short-0 [34]$/)]);
    expect(messageOf(await activity.attempt())).toContain('1 pods terminating');
    expect(drains.requestsAbout('short-0')).toHaveLength(1);
  });

  it('takes a deadline that stands there already, and forgets it when the drain is given up', async () => {
    const node = await drains.node('fixed', { terminationGracePeriod: '1h' });
    const annotations = { 'karpenter.sh/nodeclaim-termination-timestamp': '2030-01-05T12:00:00Z' };
    await drains.cluster.send('PATCH', '/apis/karpenter.sh/v1/nodeclaims/fixed', { metadata: { annotations } });
    await drains.pod('fixed-0', node.ref.node, protectedPod);
    expect(messageOf(await drains.begin(node).attempt())).toContain('ends at 2030-01-05T12:00:00.000Z');
    await forgetDeadline(drains.cluster.api, node.ref.nodeClaim, node.ref.uid);
    expect(await timestamp(node)).toBeUndefined();
  });

  it('fixes the deadline anew after a pause by the kill switch', async () => {
    const node = await drains.node('paused', { terminationGracePeriod: '1h' });
    const annotations = { 'karpenter.sh/nodeclaim-termination-timestamp': '2020-01-05T12:00:00Z' };
    await drains.cluster.send('PATCH', '/apis/karpenter.sh/v1/nodeclaims/paused', { metadata: { annotations } });
    await drains.pod('paused-0', node.ref.node, protectedPod);
    await drains.begin(node, {}, { evictionBegan: false }).attempt();
    expect(Date.parse((await timestamp(node)) ?? '')).toBeGreaterThan(Date.now() + 3_500_000);
    expect(drains.requestsAbout('paused-0')).toEqual([]);
  });

  it('says what is wrong with an annotation that is no time', async () => {
    const node = await drains.node('unreadable');
    const annotations = { 'karpenter.sh/nodeclaim-termination-timestamp': 'tomorrow' };
    await drains.cluster.send('PATCH', '/apis/karpenter.sh/v1/nodeclaims/unreadable', { metadata: { annotations } });
    expect(messageOf(await drains.begin(node).attempt())).toBe(
      'NodeClaim unreadable: annotation karpenter.sh/nodeclaim-termination-timestamp: "tomorrow" is no RFC 3339 time',
    );
  });
});
