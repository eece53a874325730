import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import type { ClusterFault } from '../../simulator/cluster/faults.js';
import type { TestCluster } from './clusterFixture.js';
import { failureOf, startCluster } from './clusterFixture.js';

let cluster: TestCluster;

beforeEach(async () => {
  cluster = await startCluster();
});

afterEach(async () => {
  await cluster.simulator.close();
});

function createNode(name: string) {
  return cluster.api.core.createNode({ body: { metadata: { name } } });
}

async function nodeNames(): Promise<readonly (string | undefined)[]> {
  const { items } = await cluster.api.core.listNode();
  return items.map((item) => item.metadata?.name);
}

describe('a fault', () => {
  it('answers with a failure, and leaves no effect', async () => {
    cluster.simulator.addFault({
      verb: 'create',
      then: { kind: 'fail', status: 429, reason: 'TooManyRequests', message: 'slow down', retryAfterSeconds: 3 },
    });
    expect(await failureOf(createNode('a'))).toMatchObject({
      code: 429,
      reason: 'TooManyRequests',
      message: 'slow down',
      details: { retryAfterSeconds: 3 },
    });
    expect(await nodeNames()).toEqual([]);
    await createNode('a');
    expect(await nodeNames()).toEqual(['a']);
  });

  it('cuts the connection before the request has an effect', async () => {
    cluster.simulator.addFault({ then: { kind: 'reset' } });
    await expect(createNode('a')).rejects.toThrow();
    expect(await nodeNames()).toEqual([]);
    expect(cluster.simulator.audit.entries[0]).toMatchObject({ verb: 'create', status: 0 });
  });

  it('cuts the connection after the request has had its effect', async () => {
    cluster.simulator.addFault({ then: { kind: 'lostResponse' } });
    await expect(createNode('a')).rejects.toThrow();
    expect(await nodeNames()).toEqual(['a']);
    expect(cluster.simulator.audit.entries[0]).toMatchObject({ verb: 'create', name: 'a', status: 201 });
  });

  it('never answers', async () => {
    cluster.simulator.addFault({ verb: 'create', then: { kind: 'hang' } });
    let isSettled = false;
    const hanging = createNode('a').then(
      () => {
        isSettled = true;
      },
      () => {
        isSettled = true;
      },
    );
    await createNode('b');
    expect(await nodeNames()).toEqual(['b']);
    expect(isSettled).toBe(false);
    await cluster.simulator.close();
    await hanging;
    cluster = await startCluster();
  });

  it('delays the effect', async () => {
    cluster.simulator.addFault({ verb: 'create', then: { kind: 'delay', ms: 150 } });
    const startedAt = performance.now();
    const delayed = createNode('a');
    await createNode('b');
    expect(await nodeNames()).toEqual(['b']);
    await delayed;
    expect(performance.now() - startedAt).toBeGreaterThan(140);
    expect(cluster.simulator.audit.entries.at(-1)?.latencyMs).toBeGreaterThan(140);
  });

  const then = { kind: 'fail', status: 500 } as const;
  const choices: readonly { what: string; fault: ClusterFault; fails: readonly string[] }[] = [
    { what: 'one request, if not said otherwise', fault: { then }, fails: ['a'] },
    { what: 'as many as said', fault: { count: 2, then }, fails: ['a', 'b'] },
    { what: 'none before as many as said', fault: { after: 1, count: 1, then }, fails: ['b'] },
    { what: 'the verb that is given', fault: { verb: 'delete', then }, fails: [] },
    { what: 'the resource that is given', fault: { resource: 'pods', then }, fails: [] },
    { what: 'the user agent that is given', fault: { userAgent: '^another$', then }, fails: [] },
    { what: 'a user agent that matches', fault: { userAgent: '^cluster-', then }, fails: ['a'] },
  ];
  it.each(choices)('hits $what', async ({ fault, fails }) => {
    cluster.simulator.addFault(fault);
    const failed: string[] = [];
    for (const name of ['a', 'b', 'c']) await createNode(name).catch(() => failed.push(name));
    expect(failed).toEqual(fails);
  });

  it('hits the name that is given', async () => {
    await createNode('node-1');
    await createNode('node-2');
    cluster.simulator.addFault({ verb: 'get', name: '-2$', then });
    await cluster.api.core.readNode({ name: 'node-1' });
    await expect(cluster.api.core.readNode({ name: 'node-2' })).rejects.toThrow();
    await cluster.api.core.readNode({ name: 'node-2' });
  });
});
