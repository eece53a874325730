import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';

import { evictPod } from '../../activities/kubernetes/pods.js';
import { messageOf } from '../support/drainActivity.js';
import { DrainCluster } from '../support/drainCluster.js';

let drains: DrainCluster;
beforeAll(async () => {
  drains = await DrainCluster.start();
});
afterAll(async () => {
  await drains.stop();
});

describe('a drain', () => {
  it('opens the replacement, evicts in order, and ends when the pods are gone', async () => {
    const node = await drains.node('order');
    await drains.pod('order-web', node.ref.node);
    await drains.pod('order-agent', node.ref.node, { ownerKind: 'DaemonSet' });
    const activity = drains.begin(node);
    expect(await activity.attempt()).toMatchObject({
      kind: 'waiting',
      message: '1 pods terminating; 1 to be evicted after them',
      evictionBegan: true,
    });
    expect(await drains.taints(node.launch?.virtualMachine ?? '')).toEqual([]);
    await activity.attempt();
    expect(drains.requestsAbout('order-web', 'order-agent')).toEqual(['evict order-web 201']);
    await drains.end('order-web');
    await activity.attempt();
    await drains.end('order-agent');
    expect(await activity.attempt()).toEqual({ kind: 'drained' });
    expect(drains.requestsAbout('order-web', 'order-agent')).toEqual(['evict order-web 201', 'evict order-agent 201']);
  });

  it('r162: evicts thirty pods in one attempt', async () => {
    const node = await drains.node('thirty');
    const names = Array.from({ length: 30 }, (_, index) => `thirty-${index}`);
    await Promise.all(names.map((name) => drains.pod(name, node.ref.node)));
    const activity = drains.begin(node);
    expect(messageOf(await activity.attempt())).toBe('30 pods terminating');
    expect(drains.requestsAbout(...names)).toHaveLength(30);
  });

  it('r150, r153: leaves static pods, and those that have ended, though a budget allows nothing', async () => {
    const node = await drains.node('leaves');
    await drains.pod('leaves-static', node.ref.node, { ownerKind: 'Node' });
    await drains.pod('leaves-job', node.ref.node, { ownerKind: 'Job', phase: 'Succeeded' });
    await drains.pod('leaves-failed', node.ref.node, { ownerKind: null, phase: 'Failed' });
    await drains.budget('leaves', { app: 'leaves-job' }, 0);
    expect(await drains.begin(node).attempt()).toEqual({ kind: 'drained' });
    expect(drains.requestsAbout('leaves-static', 'leaves-job', 'leaves-failed')).toEqual([]);
  });

  it('evicts a running Job’s pod as any', async () => {
    const node = await drains.node('job');
    await drains.pod('job-running', node.ref.node, { ownerKind: 'Job' });
    await drains.begin(node).attempt();
    expect(drains.requestsAbout('job-running')).toEqual(['evict job-running 201']);
    expect(drains.events('job')).toEqual([]);
  });

  it('evicts a pod that nobody makes anew, and says so once', async () => {
    const node = await drains.node('bare');
    await drains.pod('bare-0', node.ref.node, { ownerKind: null });
    const activity = drains.begin(node);
    await activity.attempt();
    await activity.attempt();
    await drains.end('bare-0');
    expect(await activity.attempt()).toEqual({ kind: 'drained' });
    expect(drains.events('bare')).toEqual([
      'BarePodEvicted evicted, though no controller makes them anew: default/bare-0',
    ]);
  });

  it('r133: leaves a pod that has the name by now', async () => {
    const node = await drains.node('renamed');
    const uid = await drains.pod('db-0', node.ref.node, { ownerKind: 'StatefulSet' });
    await drains.end('db-0');
    await drains.pod('db-0', 'node-b', { ownerKind: 'StatefulSet' });
    const stale = { metadata: { name: 'db-0', namespace: 'default', uid }, spec: { containers: [] } };
    expect(await evictPod(drains.api, stale)).toEqual({ kind: 'gone' });
    expect(await drains.begin(node).attempt()).toEqual({ kind: 'drained' });
    expect(await drains.podNames('node-b')).toEqual(['db-0']);
    expect(drains.requestsAbout('db-0')).toEqual(['evict db-0 409']);
  });

  it('r134: puts the UID where the API server looks at it', async () => {
    const node = await drains.node('uid');
    const uid = await drains.pod('uid-0', node.ref.node);
    const other = { metadata: { name: 'uid-0', namespace: 'default', uid: `not-${uid}` }, spec: { containers: [] } };
    expect(await evictPod(drains.api, other)).toEqual({ kind: 'gone' });
    expect(await drains.podNames(node.ref.node)).toEqual(['uid-0']);
    const own = { ...other, metadata: { ...other.metadata, uid } };
    expect(await evictPod(drains.api, own)).toEqual({ kind: 'accepted' });
  });

  it('r135: asks no more for a pod that has moved under the same name', async () => {
    const node = await drains.node('moved');
    await drains.pod('moved-0', node.ref.node, { ownerKind: 'StatefulSet' });
    await drains.budget('moved', { app: 'moved-0' }, 0);
    const activity = drains.begin(node);
    expect(messageOf(await activity.attempt())).toContain('default/moved-0 since ');
    await drains.end('moved-0');
    await drains.pod('moved-0', 'node-c', { ownerKind: 'StatefulSet' });
    expect(await activity.until()).toEqual({ kind: 'drained' });
    expect(drains.requestsAbout('moved-0')).toEqual(['evict moved-0 429']);
    expect(await drains.podNames('node-c')).toEqual(['moved-0']);
  });

  it('r138: waits for a terminating pod under a budget, and evicts it no more', async () => {
    const node = await drains.node('terminating');
    await drains.pod('terminating-0', node.ref.node);
    await drains.budget('terminating', { app: 'terminating-0' }, 0);
    await drains.cluster.send('DELETE', '/api/v1/namespaces/default/pods/terminating-0');
    const activity = drains.begin(node);
    expect(messageOf(await activity.attempt())).toBe('1 pods terminating');
    await drains.end('terminating-0');
    expect(await activity.attempt()).toEqual({ kind: 'drained' });
    expect(drains.requestsAbout('terminating-0')).toEqual([]);
  });

  it('r154: does not wait for pods of a dead kubelet, and says whom it left', async () => {
    const node = await drains.node('dead', { isReady: false });
    const spec = { terminationGracePeriodSeconds: 1 };
    await drains.pod('dead-0', node.ref.node, { spec, finalizers: ['example.com/kept'] });
    await drains.end('dead-0');
    const activity = drains.begin(node, { drainTimeoutMs: 3_600_000 });
    expect(messageOf(await activity.until((attempt) => messageOf(attempt).includes('should have ended')))).toMatch(
      /^1 pods terminating; default\/dead-0 should have ended at \S+, its Node is not Ready$/,
    );
    const later = Date.now() + 62_000;
    const clock = jest.spyOn(Date, 'now').mockReturnValue(later);
    expect(await activity.attempt()).toEqual({ kind: 'drained' });
    clock.mockRestore();
    expect(drains.events('dead')).toEqual([
      'DrainIncomplete node-dead is deleted without waiting any longer for pods that were to end more than a minute ago: default/dead-0',
    ]);
  });
});

describe('a pod that the API server does not let go', () => {
  it('r131: does not hold up the others, and is shown with both its budgets', async () => {
    const node = await drains.node('two');
    await drains.pod('two-a', node.ref.node, { labels: { app: 'two', part: 'a' } });
    await Promise.all(['two-b', 'two-c'].map((name) => drains.pod(name, node.ref.node)));
    await drains.budget('by-app', { app: 'two' }, 1);
    await drains.budget('by-part', { part: 'a' }, 1);
    const activity = drains.begin(node, { waitIntervalMs: 10_000 });
    const words = 'more than one PodDisruptionBudget covers it (by-app, by-part), which the Eviction API refuses';
    expect(messageOf(await activity.attempt())).toContain(words);
    expect(drains.requestsAbout('two-b', 'two-c')).toHaveLength(2);
    await activity.attempt();
    // Not a tight loop: it was asked for a moment ago.
    expect(drains.requestsAbout('two-a')).toEqual(['evict two-a 500']);
    expect(drains.events('two')).toEqual([expect.stringContaining(words)]);
  });

  it('r137: is asked again after growing delays, and when Retry-After says so', async () => {
    const node = await drains.node('paced');
    await drains.pod('paced-0', node.ref.node);
    const refuse = (retryAfterSeconds: number): void => {
      drains.cluster.simulator.addFault({
        verb: 'evict',
        name: '^paced-0$',
        then: { kind: 'fail', status: 429, message: 'too many requests', retryAfterSeconds },
      });
    };
    for (let refusals = 0; refusals < 3; refusals += 1) refuse(0);
    refuse(1);
    const startedAtMs = Date.now();
    const stop = drains.endWhatTerminates();
    expect(await drains.begin(node).until()).toEqual({ kind: 'drained' });
    await stop();
    expect(drains.requestsAbout('paced-0')).toEqual([
      ...Array<string>(4).fill('evict paced-0 429'),
      'evict paced-0 201',
    ]);
    // 10, 20 and 40 ms of its own, then the second that was asked for.
    expect(Date.now() - startedAtMs).toBeGreaterThanOrEqual(1_070);
    // A busy API server is nobody's fault.
    expect(drains.events('paced')).toEqual([]);
  });

  it('r139: goes by itself when its namespace is being deleted', async () => {
    const node = await drains.node('namespace');
    await drains.pod('namespace-0', node.ref.node);
    drains.cluster.simulator.addFault({
      verb: 'evict',
      name: '^namespace-0$',
      then: {
        kind: 'fail',
        status: 403,
        reason: 'Forbidden',
        message: 'unable to create new content in namespace default because it is being terminated',
        causes: [{ reason: 'NamespaceTerminating', message: 'namespace default is being terminated' }],
      },
    });
    const activity = drains.begin(node);
    expect(await activity.attempt()).toMatchObject({ kind: 'waiting', evictionBegan: false });
    await drains.end('namespace-0');
    expect(await activity.attempt()).toEqual({ kind: 'drained' });
  });

  it('r139: ends the drain when we lack the right', async () => {
    const node = await drains.node('forbidden');
    await drains.pod('forbidden-0', node.ref.node);
    const message =
      'pods "forbidden-0" is forbidden: User "driftless" cannot create resource "pods/eviction" in API group "" in the namespace "default"';
    drains.cluster.simulator.addFault({
      verb: 'evict',
      name: '^forbidden-0$',
      then: { kind: 'fail', status: 403, reason: 'Forbidden', message },
    });
    expect(await drains.begin(node).attempt()).toEqual({
      kind: 'failed',
      type: 'Forbidden',
      message: `evict pod default/forbidden-0: ${message}`,
      evictionBegan: false,
    });
  });

  it('r163: is never deleted instead, however often it was refused', async () => {
    const node = await drains.node('patient');
    await drains.pod('patient-0', node.ref.node);
    await drains.budget('patient', { app: 'patient-0' }, 0);
    const activity = drains.begin(node);
    await activity.until(() => drains.requestsAbout('patient-0').length === 5);
    await drains.allow('patient', 1);
    const stop = drains.endWhatTerminates();
    expect(await activity.until()).toEqual({ kind: 'drained' });
    await stop();
    expect(drains.requestsAbout('patient-0')).toEqual([
      ...Array<string>(5).fill('evict patient-0 429'),
      'evict patient-0 201',
    ]);
  });
});
