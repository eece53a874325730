import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { messageOf } from '../support/drainActivity.js';
import { DrainCluster, protectedPod } from '../support/drainCluster.js';

let drains: DrainCluster;
beforeAll(async () => {
  drains = await DrainCluster.start();
});
afterAll(async () => {
  await drains.stop();
});

describe('a pod under karpenter.sh/do-not-disrupt', () => {
  it('r050: is named in no eviction request, and the replacement stays reserved', async () => {
    const node = await drains.node('held');
    await drains.pod('held-0', node.ref.node, protectedPod);
    const activity = drains.begin(node);
    for (let attempts = 0; attempts < 3; attempts += 1) {
      const attempt = await activity.attempt();
      expect(attempt).toMatchObject({ kind: 'waiting', evictionBegan: false });
      expect(messageOf(attempt)).toMatch(
        /^default\/held-0 since \S+: it is annotated karpenter.sh\/do-not-disrupt: "true"; 0 pods terminating$/,
      );
    }
    expect(drains.requestsAbout('held-0')).toEqual([]);
    expect(await drains.taints(node.launch?.virtualMachine ?? '')).toEqual(['driftless.dev/replacement']);
    expect(drains.events('held')).toHaveLength(1);
  });

  it('r050: that gets the annotation in mid-drain is asked for no more', async () => {
    const node = await drains.node('annotated');
    await drains.pod('annotated-0', node.ref.node);
    await drains.budget('annotated', { app: 'annotated-0' }, 0);
    const activity = drains.begin(node);
    await activity.attempt();
    await drains.cluster.send('PATCH', '/api/v1/namespaces/default/pods/annotated-0', { metadata: protectedPod });
    await drains.allow('annotated', 1);
    for (let attempts = 0; attempts < 5; attempts += 1) await activity.attempt();
    expect(drains.requestsAbout('annotated-0')).toEqual(['evict annotated-0 429']);
    expect(await drains.podNames(node.ref.node)).toEqual(['annotated-0']);
    // The cause has changed: it is told anew.
    expect(drains.events('annotated')).toEqual([
      expect.stringContaining('The disruption budget annotated'),
      expect.stringContaining('it is annotated karpenter.sh/do-not-disrupt: "true"'),
    ]);
  });

  it('does not hold up the others, and goes when its protection ends', async () => {
    const node = await drains.node('until');
    await drains.pod('until-free', node.ref.node);
    await drains.pod('until-0', node.ref.node, { annotations: { 'karpenter.sh/do-not-disrupt': '3s' } });
    const stop = drains.endWhatTerminates();
    const activity = drains.begin(node);
    expect(messageOf(await activity.attempt())).toContain('do-not-disrupt: "3s"');
    expect(drains.requestsAbout('until-free', 'until-0')).toEqual(['evict until-free 201']);
    expect(await activity.until()).toEqual({ kind: 'drained' });
    await stop();
    expect(drains.requestsAbout('until-0')).toEqual(['evict until-0 201']);
  });

  it('r051: ends the drain at its timeout, with nothing evicted', async () => {
    const node = await drains.node('given-up');
    await drains.pod('given-up-0', node.ref.node, protectedPod);
    expect(await drains.begin(node, { drainTimeoutMs: 200 }).until()).toMatchObject({
      kind: 'failed',
      type: 'DeadlineExceeded',
      message: expect.stringContaining('default/given-up-0 since '),
      evictionBegan: false,
    });
  });
});

describe('a PodDisruptionBudget that allows nothing', () => {
  it('r141: is named from the first attempt to the last, since when it is, and nothing counts as evicted', async () => {
    const node = await drains.node('never');
    await drains.pod('never-0', node.ref.node);
    await drains.budget('never', { app: 'never-0' }, 0);
    const activity = drains.begin(node, { drainTimeoutMs: 2_000 });
    const words = 'The disruption budget never needs 1 healthy pods and has 1 currently';
    const first = messageOf(await activity.attempt());
    expect(first).toMatch(new RegExp(`^default/never-0 since \\S+: ${words}; 0 pods terminating$`));
    expect(await activity.until()).toMatchObject({
      kind: 'failed',
      type: 'DeadlineExceeded',
      message: expect.stringContaining(first),
      evictionBegan: false,
    });
  });

  it('r142: is told once for all pods that it holds, and again for another pod', async () => {
    const node = await drains.node('many');
    const names = Array.from({ length: 6 }, (_, index) => `many-${index}`);
    await Promise.all(names.map((name) => drains.pod(name, node.ref.node, { labels: { app: 'many' } })));
    await drains.budget('many', { app: 'many' }, 0);
    const activity = drains.begin(node);
    await activity.until(() => drains.requestsAbout(...names).length >= 18);
    expect(drains.events('many')).toEqual([expect.stringMatching(/^DrainBlocked the drain of node-many.*and 1 more$/)]);
    await drains.pod('many-late', node.ref.node, { labels: { app: 'many' } });
    await activity.until(() => drains.requestsAbout('many-late').length > 1);
    expect(drains.events('many')).toHaveLength(2);
    expect(drains.events('many')[1]).toMatch(/default\/many-late since [^;]+$/);
  });
});

describe('what a drain knows of its evictions', () => {
  it('stays: one that was accepted has begun it for good', async () => {
    const node = await drains.node('began');
    await drains.pod('began-0', node.ref.node);
    await drains.pod('began-held', node.ref.node, protectedPod);
    const stop = drains.endWhatTerminates();
    const activity = drains.begin(node, { drainTimeoutMs: 300 });
    expect(await activity.until()).toMatchObject({ kind: 'failed', evictionBegan: true });
    await stop();
  });

  it.each(['hang up', 'lose the answer'])('is cautious when the API server should %s', async (what) => {
    const name = what.replaceAll(' ', '-');
    const node = await drains.node(name);
    await drains.pod(`${name}-0`, node.ref.node);
    drains.cluster.simulator.addFault({
      verb: 'evict',
      name: `^${name}-0$`,
      then: { kind: what === 'hang up' ? 'reset' : 'lostResponse' },
    });
    expect(await drains.begin(node).attempt()).toMatchObject({ kind: 'waiting', evictionBegan: true });
  });

  it('is cautious when a worker was lost in an attempt', async () => {
    const node = await drains.node('lost');
    await drains.pod('lost-0', node.ref.node, protectedPod);
    const activity = drains.begin(node);
    expect(await activity.attempt()).toMatchObject({ evictionBegan: false });
    activity.loseAttempt();
    expect(await activity.attempt()).toMatchObject({ evictionBegan: true });
  });

  it('survives an attempt that could not read the cluster', async () => {
    const node = await drains.node('outage');
    await drains.pod('outage-0', node.ref.node, protectedPod);
    const activity = drains.begin(node);
    const since = messageOf(await activity.attempt());
    drains.cluster.simulator.addFault({ verb: 'list', resource: 'pods', then: { kind: 'fail', status: 503 } });
    expect(await activity.attempt()).toMatchObject({ kind: 'waiting', evictionBegan: false });
    expect(messageOf(await activity.attempt())).toBe(since);
  });
});

describe('before the first eviction', () => {
  it('r048: a drift that has cleared ends the drain as not needed, at whatever attempt', async () => {
    const node = await drains.node('cleared');
    await drains.pod('cleared-0', node.ref.node, protectedPod);
    const activity = drains.begin(node);
    await activity.attempt();
    await drains.cluster.send('PATCH', '/apis/karpenter.sh/v1/nodeclaims/cleared/status', {
      status: { conditions: [] },
    });
    expect(await activity.attempt()).toEqual({
      kind: 'failed',
      type: 'NotNeeded',
      message: 'it is no longer Drifted',
      evictionBegan: false,
    });
  });

  it('a NodePool that is not managed any more ends the drain as not needed, and nothing of it is evicted', async () => {
    const node = await drains.node('unmanaged');
    await drains.pod('unmanaged-0', node.ref.node);
    await drains.setManaged(false);
    const attempt = await drains.begin(node).attempt();
    await drains.setManaged(true);
    const message = 'NodePool pool is not managed any more';
    expect(attempt).toEqual({ kind: 'failed', type: 'NotNeeded', message, evictionBegan: false });
    expect(drains.requestsAbout('unmanaged-0')).toEqual([]);
  });

  it('r037: a replacement that has drifted already gets no pods, and says its reason', async () => {
    const node = await drains.node('born');
    await drains.pod('born-0', node.ref.node);
    const conditions = [
      { type: 'Initialized', status: 'True', reason: 'Initialized' },
      { type: 'Drifted', status: 'True', reason: 'ImageDrift' },
    ].map((condition) => ({ ...condition, message: '', lastTransitionTime: '2026-01-05T12:00:00Z' }));
    await drains.cluster.send('PATCH', `/apis/karpenter.sh/v1/nodeclaims/${node.launch?.nodeClaim ?? ''}/status`, {
      status: { conditions },
    });
    expect(await drains.begin(node).attempt()).toEqual({
      kind: 'failed',
      type: 'BornDrifted',
      message: 'the replacement born-new is Drifted already (ImageDrift)',
      evictionBegan: false,
    });
    expect(drains.requestsAbout('born-0')).toEqual([]);
  });

  it('r048: a pod that has come to an empty node ends its drain as not needed', async () => {
    const node = await drains.node('empty', { isEmpty: true });
    await drains.pod('empty-agent', node.ref.node, { ownerKind: 'DaemonSet' });
    await drains.pod('empty-late', node.ref.node);
    expect(await drains.begin(node).attempt()).toEqual({
      kind: 'failed',
      type: 'NotNeeded',
      message: 'it is not empty any more: pod default/empty-late has come',
      evictionBegan: false,
    });
    expect(drains.requestsAbout('empty-agent', 'empty-late')).toEqual([]);
  });

  it('an empty node loses its daemon pods, without a replacement', async () => {
    const node = await drains.node('daemons', { isEmpty: true });
    await drains.pod('daemons-0', node.ref.node, { ownerKind: 'DaemonSet' });
    const stop = drains.endWhatTerminates();
    expect(await drains.begin(node).until()).toEqual({ kind: 'drained' });
    await stop();
    expect(drains.requestsAbout('daemons-0')).toEqual(['evict daemons-0 201']);
  });

  it('an empty node is not done before a pod that was just being scheduled would be seen', async () => {
    const node = await drains.node('just-tainted', { isEmpty: true });
    const activity = drains.begin(node, { waitIntervalMs: 200 });
    expect(messageOf(await activity.attempt())).toBe('no pods; one may still come');
    await drains.pod('just-tainted-0', node.ref.node);
    expect(await activity.attempt()).toMatchObject({ kind: 'failed', type: 'NotNeeded' });
  });

  it('r151: ends when the replacement is lost in mid-drain', async () => {
    const node = await drains.node('guarded');
    await drains.pod('guarded-0', node.ref.node, { ownerKind: null });
    const activity = drains.begin(node);
    expect(await activity.attempt()).toMatchObject({ kind: 'waiting' });
    await drains.cluster.send('DELETE', '/apis/karpenter.sh/v1/nodeclaims/guarded-new');
    expect(await activity.attempt()).toEqual({
      kind: 'failed',
      type: 'Refused',
      message: 'the replacement guarded-new is not Initialized',
      evictionBegan: true,
    });
  });
});

describe('the kill switch', () => {
  it('stops a drain before its next request, and leaves word whether it had evicted', async () => {
    const node = await drains.node('stopped');
    await drains.pod('stopped-0', node.ref.node);
    await drains.setPaused(true);
    const words = 'the ConfigMap default/driftless says paused: "true"';
    expect(await drains.begin(node).attempt()).toEqual({
      kind: 'failed',
      type: 'Paused',
      message: words,
      evictionBegan: false,
    });
    await drains.setPaused(false);
    const activity = drains.begin(node);
    expect(await activity.attempt()).toMatchObject({ evictionBegan: true });
    await drains.setPaused(true);
    expect(await activity.attempt()).toMatchObject({ type: 'Paused', evictionBegan: true });
    await drains.setPaused(false);
    expect(drains.requestsAbout('stopped-0')).toEqual(['evict stopped-0 201']);
  });

  it('that was turned off again has a drain remember what it had done', async () => {
    const node = await drains.node('resumed');
    await drains.pod('resumed-0', node.ref.node, protectedPod);
    const activity = drains.begin(node, {}, { evictionBegan: true });
    expect(await activity.attempt()).toMatchObject({ kind: 'waiting', evictionBegan: true });
  });
});
