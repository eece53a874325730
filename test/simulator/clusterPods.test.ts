import type { V1Pod, V1PodDisruptionBudget } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { mergePatch } from '../../activities/kubernetes/kubernetesApi.js';
import type { TestCluster } from './clusterFixture.js';
import { failureOf, podOf, startCluster } from './clusterFixture.js';

const namespace = 'default';

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await startCluster();
});

afterAll(async () => {
  await cluster.simulator.close();
});

function bind(name: string, nodeName: string): Promise<unknown> {
  return cluster.api.core.createNamespacedPodBinding({
    namespace,
    name,
    body: { metadata: { name }, target: { kind: 'Node', name: nodeName } },
  });
}

async function readPod(name: string): Promise<V1Pod> {
  return cluster.api.core.readNamespacedPod({ namespace, name });
}

describe('binding', () => {
  it('puts a pod on a node, once', async () => {
    const labels = { 'topology.kubernetes.io/zone': 'eastus-1', other: 'label' };
    await cluster.api.core.createNode({ body: { metadata: { name: 'zonal', labels } } });
    await cluster.api.core.createNamespacedPod({ namespace, body: podOf('to-bind') });
    expect(await bind('to-bind', 'zonal')).toMatchObject({ kind: 'Status' });
    const pod = await readPod('to-bind');
    expect(pod.spec?.nodeName).toBe('zonal');
    expect(pod.metadata?.labels).toEqual({ 'topology.kubernetes.io/zone': 'eastus-1' });
    expect(pod.metadata?.generation).toBe(1);
    expect(pod.status?.conditions).toMatchObject([{ type: 'PodScheduled', status: 'True' }]);
    expect(cluster.simulator.audit.entries).toContainEqual(
      expect.objectContaining({ verb: 'bind', resource: 'pods', subresource: 'binding', name: 'to-bind', status: 201 }),
    );

    expect(await failureOf(bind('to-bind', 'another'))).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on pods/binding "to-bind": pod to-bind is already assigned to node "zonal"',
      details: { name: 'to-bind', kind: 'pods/binding' },
    });
  });

  it('is the only way onto a node', async () => {
    await cluster.api.core.createNamespacedPod({ namespace, body: podOf('unbound') });
    const body = { spec: { nodeName: 'zonal' } };
    const call = cluster.api.core.patchNamespacedPod({ namespace, name: 'unbound', body }, mergePatch);
    expect(await failureOf(call)).toMatchObject({
      code: 422,
      message: expect.stringMatching(
        /^Pod "unbound" is invalid: spec: Forbidden: pod updates may not change fields other than/,
      ),
    });
  });

  it('is refused for a pod that is not there, being deleted or gated', async () => {
    expect(await failureOf(bind('nobody', 'zonal'))).toMatchObject({ code: 404, message: 'pods "nobody" not found' });
    const gated = podOf('gated');
    const spec = { ...gated.spec, schedulingGates: [{ name: 'example.com/wait' }] };
    await cluster.api.core.createNamespacedPod({ namespace, body: { ...gated, spec } });
    expect(await failureOf(bind('gated', 'zonal'))).toMatchObject({
      code: 409,
      message: expect.stringMatching(/schedulingGates$/),
    });
  });
});

interface BudgetCase {
  readonly spec?: Record<string, unknown>;
  readonly status?: Record<string, unknown>;
}

interface PodCase {
  readonly phase?: string;
  readonly ready?: boolean;
}

let caseCount = 0;

/** One pod on a node with its budgets, under labels of their own. */
async function arrange(pod: PodCase, budgets: readonly BudgetCase[]): Promise<string> {
  caseCount += 1;
  const name = `case-${caseCount}`;
  const labels = { app: name };
  await cluster.api.core.createNamespacedPod({ namespace, body: podOf(name, { labels, nodeName: 'zonal' }) });
  const { phase = 'Running', ready = true } = pod;
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }];
  await cluster.api.core.patchNamespacedPodStatus(
    { namespace, name, body: { status: { phase, conditions } } },
    mergePatch,
  );
  for (const [index, { spec, status }] of budgets.entries()) {
    const budgetName = `${name}-${index}`;
    const body = { metadata: { name: budgetName }, spec: { selector: { matchLabels: labels }, ...spec } };
    await cluster.api.policy.createNamespacedPodDisruptionBudget({ namespace, body });
    const patch = { status: { observedGeneration: 1, ...status } };
    await cluster.api.policy.patchNamespacedPodDisruptionBudgetStatus(
      { namespace, name: budgetName, body: patch },
      mergePatch,
    );
  }
  return name;
}

function evict(name: string, preconditions?: { uid?: string; resourceVersion?: string }): Promise<unknown> {
  const deleteOptions = preconditions === undefined ? {} : { deleteOptions: { preconditions } };
  const body = { metadata: { name }, ...deleteOptions };
  return cluster.api.core.createNamespacedPodEviction({ namespace, name, body });
}

async function readBudget(podName: string): Promise<V1PodDisruptionBudget> {
  return cluster.api.policy.readNamespacedPodDisruptionBudget({ namespace, name: `${podName}-0` });
}

const healthy = { currentHealthy: 3, desiredHealthy: 2, expectedPods: 3 };
const usedUp = { disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy: 2, expectedPods: 3 };

describe('evicting', () => {
  const allowed: readonly { why: string; pod: PodCase; budgets: readonly BudgetCase[]; gone?: true; left?: number }[] =
    [
      { why: 'a pod without a budget', pod: {}, budgets: [] },
      {
        why: 'a pod whose budget allows it',
        pod: {},
        budgets: [{ status: { ...healthy, disruptionsAllowed: 2 } }],
        left: 1,
      },
      { why: 'a finished pod', pod: { phase: 'Succeeded' }, budgets: [{ status: usedUp }], gone: true, left: 0 },
      { why: 'a failed pod', pod: { phase: 'Failed' }, budgets: [{ status: usedUp }], gone: true, left: 0 },
      { why: 'a pending pod', pod: { phase: 'Pending' }, budgets: [{ status: usedUp }], left: 0 },
      {
        why: 'a pod that is not ready while enough others are',
        pod: { ready: false },
        budgets: [{ status: usedUp }],
        left: 0,
      },
      {
        why: 'a pod that is not ready, always, if so wanted',
        pod: { ready: false },
        budgets: [{ spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' }, status: { ...usedUp, currentHealthy: 0 } }],
        left: 0,
      },
    ];
  it.each(allowed)('$why works', async ({ pod, budgets, gone, left }) => {
    const name = await arrange(pod, budgets);
    expect(await evict(name)).toMatchObject({ kind: 'Status' });
    const entry = cluster.simulator.audit.entries.at(-1);
    expect(entry).toMatchObject({ verb: 'evict', resource: 'pods', subresource: 'eviction', name, status: 201 });
    expect(entry?.removed).toBe(gone);
    if (left !== undefined) expect((await readBudget(name)).status?.disruptionsAllowed).toBe(left);
    if (gone === true) return;
    const evicted = await readPod(name);
    expect(evicted.metadata?.deletionGracePeriodSeconds).toBe(30);
    expect(evicted.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' }),
    );
  });

  const cause = (message: string) => ({ causes: [{ reason: 'DisruptionBudget', message }] });
  const blocked: readonly {
    why: string;
    pod: PodCase;
    budgets: readonly BudgetCase[];
    status: (name: string) => object;
  }[] = [
    {
      why: 'whose budget is used up',
      pod: {},
      budgets: [{ status: usedUp }],
      status: (name) => ({
        code: 429,
        reason: 'TooManyRequests',
        message: "Cannot evict pod as it would violate the pod's disruption budget.",
        details: cause(`The disruption budget ${name}-0 needs 2 healthy pods and has 2 currently`),
      }),
    },
    {
      why: 'whose budget has not been looked at since it changed',
      pod: {},
      budgets: [{ status: { ...healthy, disruptionsAllowed: 1, observedGeneration: 0 } }],
      status: (name) => ({
        code: 429,
        details: {
          ...cause(`The disruption budget ${name}-0 is still being processed by the server.`),
          retryAfterSeconds: 10,
        },
      }),
    },
    {
      why: 'whose budget says why it blocks',
      pod: {},
      budgets: [
        {
          status: {
            ...usedUp,
            conditions: [
              {
                type: 'DisruptionAllowed',
                status: 'False',
                reason: 'SyncFailed',
                message: 'no controllers',
                lastTransitionTime: '2026-01-01T00:00:00Z',
              },
            ],
          },
        },
      ],
      status: (name) => ({
        code: 429,
        details: cause(
          `The disruption budget ${name}-0 does not allow evicting pods currently because it failed sync: no controllers`,
        ),
      }),
    },
    {
      why: 'that is not ready while too few others are',
      pod: { ready: false },
      budgets: [{ status: { ...usedUp, currentHealthy: 1 } }],
      status: () => ({ code: 429 }),
    },
    {
      why: 'with two budgets',
      pod: {},
      budgets: [{ status: { ...healthy, disruptionsAllowed: 1 } }, { status: { ...healthy, disruptionsAllowed: 1 } }],
      status: () => ({
        code: 500,
        message: 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
      }),
    },
  ];
  it.each(blocked)('a pod $why is refused', async ({ pod, budgets, status }) => {
    const name = await arrange(pod, budgets);
    expect(await failureOf(evict(name))).toMatchObject({ kind: 'Status', status: 'Failure', ...status(name) });
    expect((await readPod(name)).metadata?.deletionTimestamp).toBeUndefined();
  });

  it('says in a header when to try again', async () => {
    const name = await arrange({}, [{ status: { ...healthy, disruptionsAllowed: 1, observedGeneration: 0 } }]);
    const path = `/api/v1/namespaces/default/pods/${name}/eviction`;
    const answer = await cluster.raw('POST', path, { body: JSON.stringify({ metadata: { name } }) });
    expect(answer).toMatchObject({ code: 429, headers: { 'retry-after': '10' } });
  });

  it('notes the pod in the budget, which is used up in the end', async () => {
    const name = await arrange({}, [{ status: { ...healthy, disruptionsAllowed: 1 } }]);
    await evict(name);
    const { status } = await readBudget(name);
    expect(status).toMatchObject({ disruptionsAllowed: 0, disruptedPods: { [name]: expect.any(Date) } });
    expect(status?.conditions).toMatchObject([
      { type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods' },
    ]);
  });

  it('a pod again that is going already works, and uses nothing up', async () => {
    const name = await arrange({}, [{ status: { ...healthy, disruptionsAllowed: 2 } }]);
    await evict(name);
    await evict(name);
    expect((await readBudget(name)).status?.disruptionsAllowed).toBe(1);
  });

  it('only the pod that is meant', async () => {
    const name = await arrange({}, []);
    expect(await failureOf(evict(name, { uid: 'another' }))).toMatchObject({ code: 409, reason: 'Conflict' });
    expect(await failureOf(evict(name, { resourceVersion: '1' }))).toMatchObject({ code: 409, reason: 'Conflict' });
    const { metadata } = await readPod(name);
    expect(metadata?.deletionTimestamp).toBeUndefined();
    await evict(name, { uid: metadata?.uid ?? '', resourceVersion: metadata?.resourceVersion ?? '' });
    expect((await readPod(name)).metadata?.deletionTimestamp).toBeInstanceOf(Date);
  });

  it('a pod that is not there is refused', async () => {
    expect(await failureOf(evict('nobody'))).toMatchObject({ code: 404, message: 'pods "nobody" not found' });
  });
});
