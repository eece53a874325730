import { describe, expect, it } from '@jest/globals';

import { unboundedCluster } from '../../karpenter/clusterView.js';
import type { Machine, Pool } from '../../karpenter/pool.js';
import type { NodeWhy, WhyQuestion } from '../../karpenter/why.js';
import { explainNode } from '../../karpenter/why.js';
import type { MachineShape, NodePoolShape } from './poolFixture.js';
import { easyRules, isTrueSince, machineOf, machinesOf, poolOf } from './poolFixture.js';
import { workloadPodOf } from './workloadPod.js';

const driftedSince = '2026-01-05T11:00:00Z';
const atMs = Date.parse('2026-01-05T12:00:00Z');
const pods = [workloadPodOf('web')];
const drifted: MachineShape = { driftedSince, pods };
const asksFor = { reason: 'Drifted', detail: 'ImageDrift', since: driftedSince };
const workflow = 'replace/cluster/x/uid-x';

function explain(pool: Pool, name: string, question: Partial<WhyQuestion> = {}): NodeWhy {
  const machine = pool.machines.find(({ nodeClaim }) => nodeClaim.metadata.name === name);
  if (machine === undefined) throw new Error(`the pool has no ${name}`);
  return explainNode(pool, machine, { atMs, rules: easyRules, cluster: unboundedCluster, ...question });
}

interface Case {
  readonly machines: readonly Machine[];
  readonly nodePool?: NodePoolShape;
  readonly question?: Partial<WhyQuestion>;
  readonly answer: object;
}

const one: NodePoolShape = { budgets: [{ nodes: '1' }] };

/** Each about the NodeClaim `x`. */
const cases: Readonly<Record<string, Case>> = {
  'its pool is closed, and something asks for it': {
    machines: [machineOf('x', drifted)],
    nodePool: { annotations: {} },
    answer: {
      kind: 'closed',
      why: expect.stringMatching(/not annotated driftless\.dev\/managed/),
      disruption: asksFor,
    },
  },
  'its pool is closed, and nothing asks for it': {
    machines: [machineOf('x')],
    nodePool: { annotations: {} },
    answer: { kind: 'closed', disruption: null },
  },
  'the kill switch stands against every change': {
    machines: [machineOf('x', drifted)],
    question: { pausedWhy: 'paused' },
    answer: { kind: 'closed', why: 'paused', disruption: asksFor },
  },
  'nothing asks for its replacement, and it never expires': {
    machines: [machineOf('x', { conditions: [isTrueSince('Initialized', driftedSince)] })],
    answer: {
      kind: 'notAsked',
      conditions: [{ type: 'Initialized', status: 'True', lastTransitionTime: driftedSince }],
      due: null,
      expires: null,
    },
  },
  'nothing asks for its replacement until it expires': {
    machines: [machineOf('x', { createdAt: '2026-01-05T00:00:00Z', spec: { expireAfter: '24h' } })],
    answer: { kind: 'notAsked', due: '2026-01-05T23:00:00.000Z', expires: '2026-01-06T00:00:00.000Z' },
  },
  'a permit is free': {
    machines: [machineOf('x', drifted)],
    answer: { kind: 'next', disruption: asksFor, isEmpty: false },
  },
  'it waits behind others that start first': {
    machines: [...machinesOf('a', 2, drifted), machineOf('x', drifted)],
    nodePool: one,
    answer: {
      kind: 'waiting',
      place: 2,
      line: 2,
      waitsFor: { kind: 'budget', index: 0, budget: { nodes: '1' }, allowed: 1 },
      disrupted: 0,
      holders: [],
      ahead: ['a-0'],
      nextChange: null,
      expected: { wave: 3, at: '2026-01-05T12:08:00.000Z' },
    },
  },
  'it waits for others that hold the permits': {
    machines: [
      machineOf('a', { ...drifted, isTainted: true, workflow }),
      machineOf('down', { isReady: false }),
      machineOf('x', drifted),
    ],
    nodePool: { budgets: [{ nodes: '5' }, { nodes: '2', reasons: ['Drifted'] }] },
    answer: {
      kind: 'waiting',
      place: 1,
      line: 1,
      waitsFor: { kind: 'budget', index: 1, allowed: 2 },
      disrupted: 2,
      holders: [
        { nodeClaim: 'a', why: 'phase Reserve' },
        { nodeClaim: 'down', why: 'its Node is not Ready' },
      ],
      ahead: [],
      expected: { wave: 1 },
    },
  },
  'it waits for a window': {
    machines: [machineOf('x', drifted)],
    nodePool: { budgets: [{ nodes: '0', schedule: '0 9 * * *', duration: '8h' }] },
    answer: {
      kind: 'waiting',
      waitsFor: { kind: 'budget', index: 0, allowed: 0 },
      nextChange: '2026-01-05T17:00:00.000Z',
      expected: { wave: 1, at: '2026-01-05T17:00:00.000Z' },
    },
  },
  'it waits for what goes on in other pools': {
    machines: [machineOf('x', drifted)],
    question: { cluster: { room: 0, movesControlPlane: false } },
    answer: { kind: 'waiting', waitsFor: { kind: 'clusterCap', room: 0 }, expected: null },
  },
  'it waits for another node with pods of ours': {
    machines: [
      machineOf('a', { ...drifted, pods: [workloadPodOf('w', { labels: { 'app.kubernetes.io/name': 'temporal' } })] }),
      machineOf('x', { ...drifted, pods: [workloadPodOf('v', { labels: { 'app.kubernetes.io/name': 'driftless' } })] }),
    ],
    nodePool: { budgets: [{ nodes: '2' }] },
    answer: { kind: 'waiting', waitsFor: { kind: 'controlPlane' }, ahead: ['a'] },
  },
  'it is blocked for good': {
    machines: [machineOf('x', { ...drifted, doNotDisrupt: 'true' })],
    answer: {
      kind: 'blocked',
      disruption: asksFor,
      why: 'its Node is annotated karpenter.sh/do-not-disrupt',
      remedy: 'take the annotation off the Node',
      until: null,
    },
  },
  'it is blocked for a while': {
    machines: [machineOf('x', { ...drifted, conditions: [isTrueSince('Initialized', '2026-01-05T11:59:50Z')] })],
    question: { rules: { ...easyRules, justStartedMs: 20_000 } },
    answer: { kind: 'blocked', why: 'its Node has just started', until: '2026-01-05T12:00:10.000Z' },
  },
  'it is being replaced': {
    machines: [
      machineOf('x', {
        ...drifted,
        isTainted: true,
        workflow,
        conditions: [{ ...isTrueSince('DisruptionReason', '2026-01-05T11:59:00Z'), reason: 'Drifted' }],
      }),
      machineOf('new', { replaces: 'uid-x', trueConditions: ['Registered'] }),
    ],
    answer: {
      kind: 'replacing',
      phase: 'Initialize',
      since: '2026-01-05T11:59:00Z',
      reason: 'Drifted',
      replacement: { nodeClaim: 'new', uid: 'uid-new', node: 'aks-new', conditions: [{ type: 'Registered' }] },
      workflowId: workflow,
    },
  },
  'it is being replaced and deleted': {
    machines: [
      machineOf('x', { ...drifted, isTainted: true, isDeleted: true, workflow }),
      machineOf('new', { replaces: 'uid-x', trueConditions: ['Registered', 'Initialized'] }),
    ],
    answer: { kind: 'replacing', phase: 'Delete', replacement: { nodeClaim: 'new' } },
  },
  'it is a replacement': {
    machines: [
      machineOf('x', { replaces: 'uid-old', hasNode: false, annotations: { 'driftless.dev/workflow': workflow } }),
      machineOf('old', { ...drifted, isTainted: true }),
    ],
    answer: { kind: 'replacement', of: { nodeClaim: 'old', uid: 'uid-old' }, phase: 'Launch', workflowId: workflow },
  },
  'somebody else disrupts it': {
    machines: [machineOf('x', { ...drifted, isTainted: true })],
    answer: { kind: 'disruptedByOthers', why: 'somebody else tainted its Node karpenter.sh/disrupted' },
  },
  'somebody else deletes it': {
    machines: [machineOf('x', { ...drifted, isDeleted: true })],
    answer: { kind: 'deleting', since: '2026-01-01T00:00:00Z', finalizers: [] },
  },
  'its instance is terminating': {
    machines: [machineOf('x', { ...drifted, isInstanceTerminating: true })],
    answer: { kind: 'deleting', since: null },
  },
};

describe('what is said about a node when', () => {
  it.each(Object.entries(cases))('%s', (_, { machines, nodePool, question, answer }) => {
    expect(explain(poolOf(machines, nodePool), 'x', question).answer).toMatchObject(answer);
  });
});

describe('what is said about any node', () => {
  it('names its NodePool, its Node and the workflow that made it', () => {
    const x = machineOf('x', { replaces: 'uid-gone', annotations: { 'driftless.dev/workflow': workflow } });
    expect(explain(poolOf([x]), 'x')).toMatchObject({
      nodePool: 'general-purpose',
      nodeClaim: 'x',
      uid: 'uid-x',
      node: 'aks-x',
      madeBy: workflow,
      answer: { kind: 'notAsked' },
    });
  });
});
