import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import type { ConformanceServer } from './conformanceServer.js';
import { startConformanceServer } from './conformanceServer.js';
import { metadataOf } from './metadata.js';

let server: ConformanceServer;
let pods: string;
let budgets: string;

beforeAll(async () => {
  server = await startConformanceServer();
  pods = `/api/v1/namespaces/${server.own}/pods`;
  budgets = `/apis/policy/v1/namespaces/${server.own}/poddisruptionbudgets`;
});

afterAll(async () => {
  await server.close();
});

const mergePatch = { 'Content-Type': 'application/merge-patch+json' };

type PodState = 'Ready' | 'NotReady' | 'Succeeded' | 'Pending';

async function createPod(name: string, labels: Record<string, string>, state: PodState) {
  const spec = { nodeName: `${server.own}-node`, containers: [{ name: 'main', image: 'app:1' }] };
  const { body } = await server.send('POST', pods, { metadata: { name, labels }, spec });
  const phase = state === 'Ready' || state === 'NotReady' ? 'Running' : state;
  const conditions = [{ type: 'Ready', status: state === 'Ready' ? 'True' : 'False' }];
  await server.send('PATCH', `${pods}/${name}/status`, { status: { phase, conditions } }, mergePatch);
  return metadataOf(body);
}

interface BudgetState {
  readonly disruptionsAllowed: number;
  readonly currentHealthy: number;
  readonly desiredHealthy: number;
  readonly expectedPods: number;
}

/** A budget as the disruption controller would leave it: none runs here. */
async function createBudget(
  name: string,
  app: string,
  state: Partial<BudgetState>,
  spec: Record<string, unknown> = {},
) {
  const selector = { matchLabels: { app } };
  await server.send('POST', budgets, { metadata: { name }, spec: { selector, minAvailable: 1, ...spec } });
  const zero = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
  const status = { observedGeneration: 1, ...zero, ...state };
  await server.send('PATCH', `${budgets}/${name}/status`, { status }, mergePatch);
}

const evict = (name: string, more: Record<string, unknown> = {}) =>
  server.send('POST', `${pods}/${name}/eviction`, {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name },
    ...more,
  });

describe('an eviction', () => {
  it('deletes a pod that no budget covers, with its grace, and says why in its conditions', async () => {
    await createPod('free', {}, 'Ready');
    const { code, body } = await evict('free');
    expect(code).toBe(201);
    expect(body).toEqual({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });
    const evicted = (await server.send('GET', `${pods}/free`)).body;
    expect(metadataOf(evicted).deletionGracePeriodSeconds).toBe(30);
    expect(evicted).toMatchObject({
      status: {
        conditions: expect.arrayContaining([
          expect.objectContaining({ type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' }),
        ]),
      },
    });
  });

  it('takes a disruption from the budget, until there is none left', async () => {
    await createPod('covered-1', { app: 'covered' }, 'Ready');
    await createPod('covered-2', { app: 'covered' }, 'Ready');
    await createBudget('covered', 'covered', { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1 });
    expect((await evict('covered-1')).code).toBe(201);
    expect((await server.send('GET', `${budgets}/covered`)).body).toMatchObject({
      status: {
        disruptionsAllowed: 0,
        disruptedPods: { 'covered-1': expect.any(String) },
        conditions: [{ type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods' }],
      },
    });
    const { code, body, headers } = await evict('covered-2');
    expect(code).toBe(429);
    expect(body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: "Cannot evict pod as it would violate the pod's disruption budget.",
      reason: 'TooManyRequests',
      details: {
        causes: [
          {
            reason: 'DisruptionBudget',
            message: 'The disruption budget covered does not allow evicting pods currently',
          },
        ],
      },
      code: 429,
    });
    expect(headers['retry-after']).toBeUndefined();
  });

  it('r137: by a budget that is still being worked on is put off for 10 s', async () => {
    await createPod('fresh', { app: 'fresh' }, 'Ready');
    const selector = { matchLabels: { app: 'fresh' } };
    await server.send('POST', budgets, { metadata: { name: 'fresh' }, spec: { selector, minAvailable: 1 } });
    const { code, body, headers } = await evict('fresh');
    expect(code).toBe(429);
    expect(headers['retry-after']).toBe('10');
    expect(body).toMatchObject({
      details: {
        causes: [{ message: 'The disruption budget fresh is still being processed by the server.' }],
        retryAfterSeconds: 10,
      },
    });
  });

  it('r131: of a pod under two budgets is 500, of another pod is not', async () => {
    await createPod('twice', { app: 'twice' }, 'Ready');
    await createPod('once', { app: 'once' }, 'Ready');
    for (const name of ['twice-1', 'twice-2']) await createBudget(name, 'twice', { disruptionsAllowed: 1 });
    const { code, body } = await evict('twice');
    expect(code).toBe(500);
    expect(body).toMatchObject({
      message: 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    });
    expect((await evict('once')).code).toBe(201);
  });

  it.each([
    { state: 'Succeeded', code: 201 },
    { state: 'Pending', code: 201 },
    { state: 'Ready', code: 429 },
    { state: 'NotReady', code: 429 },
  ] as const)('r153: of a pod that is $state under a used-up budget is $code', async ({ state, code }) => {
    const app = `state-${state.toLowerCase()}`;
    await createPod(app, { app }, state);
    await createBudget(app, app, { currentHealthy: 1, desiredHealthy: 2, expectedPods: 2 });
    expect((await evict(app)).code).toBe(code);
  });

  it.each([
    { why: 'a healthy budget', healthy: 2, spec: {}, code: 201 },
    { why: 'an unhealthy budget', healthy: 1, spec: {}, code: 429 },
    {
      why: 'a policy that always allows it',
      healthy: 1,
      spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' },
      code: 201,
    },
  ])('of an unready pod under $why is $code', async ({ healthy, spec, code }) => {
    const app = `unready-${healthy}-${Object.keys(spec).length}`;
    await createPod(app, { app }, 'NotReady');
    await createBudget(app, app, { currentHealthy: healthy, desiredHealthy: 2, expectedPods: 3 }, spec);
    expect((await evict(app)).code).toBe(code);
  });

  it('r134: of another pod of the same name is 409 by deleteOptions.preconditions.uid, not by metadata.uid', async () => {
    const { uid } = await createPod('same-name', {}, 'Ready');
    const preconditions = { uid: 'another' };
    const { code, body } = await evict('same-name', { deleteOptions: { preconditions } });
    expect(code).toBe(409);
    expect(body).toMatchObject({
      reason: 'Conflict',
      message: `Operation cannot be fulfilled on Pod "same-name": the UID in the precondition (another) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    });
    expect(metadataOf((await server.send('GET', `${pods}/same-name`)).body).deletionTimestamp).toBeUndefined();
    expect((await evict('same-name', { metadata: { name: 'same-name', uid: 'another' } })).code).toBe(201);
  });

  it('r138: of a pod that is going already uses nothing up', async () => {
    await createPod('going', { app: 'going' }, 'Ready');
    await createBudget('going', 'going', { disruptionsAllowed: 1, currentHealthy: 1, desiredHealthy: 0 });
    expect((await evict('going')).code).toBe(201);
    expect((await evict('going')).code).toBe(201);
    expect((await server.send('GET', `${budgets}/going`)).body).toMatchObject({
      status: { disruptionsAllowed: 0, disruptedPods: { going: expect.any(String) } },
    });
  });

  it('of a pod that is not there is 404, and needs its name', async () => {
    expect(await evict('absent')).toMatchObject({ code: 404, body: { message: 'pods "absent" not found' } });
    await createPod('misnamed', {}, 'Ready');
    expect((await evict('misnamed', { metadata: { name: 'other' } })).code).toBe(400);
  });
});

describe('a binding', () => {
  const bind = (name: string, node: string) =>
    server.send('POST', `${pods}/${name}/binding`, {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name },
      target: { kind: 'Node', name: node },
    });

  it('puts a pod on a node, once', async () => {
    const spec = { containers: [{ name: 'main', image: 'app:1' }] };
    await server.send('POST', pods, { metadata: { name: 'unbound' }, spec });
    expect(await bind('unbound', 'one')).toMatchObject({ code: 201, body: { status: 'Success' } });
    const { body } = await server.send('GET', `${pods}/unbound`);
    expect(body).toMatchObject({
      spec: { nodeName: 'one' },
      status: { conditions: [{ type: 'PodScheduled', status: 'True' }] },
    });
    expect(await bind('unbound', 'other')).toMatchObject({
      code: 409,
      body: {
        message:
          'Operation cannot be fulfilled on pods/binding "unbound": pod unbound is already assigned to node "one"',
      },
    });
  });
});
