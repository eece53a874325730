import { describe, expect, it } from '@jest/globals';

import {
  nodeClaimDigest,
  nodeClassDigest,
  nodeDigest,
  nodePoolDigest,
  podDigest,
  podDisruptionBudgetDigest,
} from '../../client/watcher/digests.js';
import type { Node, NodeClass, NodePool } from '../../karpenter/api.js';
import type { BudgetShape, PodShape } from './podFixture.js';
import { podDisruptionBudgetOf, podOf } from './podFixture.js';
import type { MachineShape } from './poolFixture.js';
import { easyRules, isTrueSince, machineOf, nodePoolOf, readyNodeClass } from './poolFixture.js';

const atMs = Date.parse('2026-01-05T13:00:00Z');
const nodePool = nodePoolOf();
const notReady = { type: 'Ready', status: 'False' } as const;

function nodeOf(shape: MachineShape): Node {
  const { node } = machineOf('a', shape);
  if (node === undefined) throw new Error('this machine has no Node');
  return node;
}

describe('what wakes a rollout in a NodePool', () => {
  it.each<[string, NodePool, boolean]>([
    ['its spec, by its generation', { ...nodePool, metadata: { ...nodePool.metadata, generation: 2 } }, true],
    ['that it is handed back', nodePoolOf({ annotations: {} }), true],
    ['that it is being deleted', nodePoolOf({ isDeleted: true }), true],
    ['that it is not Ready', nodePoolOf({ conditions: [notReady] }), true],
    [
      'not what else its status says',
      nodePoolOf({ conditions: [{ type: 'NodeRegistrationHealthy', status: 'True' }] }),
      false,
    ],
    ['not its resourceVersion', { ...nodePool, metadata: { ...nodePool.metadata, resourceVersion: '9' } }, false],
  ])('%s', (_, other, isChange) => {
    expect(nodePoolDigest(other) !== nodePoolDigest(nodePool)).toBe(isChange);
  });
});

describe('what wakes a rollout in a NodeClass', () => {
  const { metadata, spec } = readyNodeClass;
  const conditions = [isTrueSince('Ready')];

  it.each<[string, NodeClass, boolean]>([
    ['that it is not Ready', { metadata, spec, status: { conditions: [notReady] } }, true],
    ['a new image', { metadata, spec, status: { conditions, images: [{ id: 'new' }] } }, true],
    [
      'that it is being deleted',
      { ...readyNodeClass, metadata: { ...metadata, deletionTimestamp: '2026-01-05T12:00:00Z' } },
      true,
    ],
    ['not what else its status says', { metadata, spec, status: { conditions, kubernetesVersion: '1.36' } }, false],
  ])('%s', (_, other, isChange) => {
    expect(nodeClassDigest(other) !== nodeClassDigest(readyNodeClass)).toBe(isChange);
  });
});

describe('what wakes a rollout in a NodeClaim', () => {
  const digest = (shape: MachineShape): string =>
    nodeClaimDigest(nodePool, machineOf('a', shape).nodeClaim, easyRules, atMs);

  it.each<[string, MachineShape, boolean]>([
    ['that it has drifted', { driftedSince: '2026-01-05T12:00:00Z' }, true],
    ['that a person wants it replaced', { annotations: { 'driftless.dev/replace': 'true' } }, true],
    ['that it expires', { createdAt: '2026-01-01T00:00:00Z', spec: { expireAfter: '72h' } }, true],
    ['that it is being deleted', { isDeleted: true }, true],
    ['not its progress', { trueConditions: ['Launched', 'Registered', 'Initialized', 'Consolidatable'] }, false],
    ['not that it will expire', { createdAt: '2026-01-05T00:00:00Z', spec: { expireAfter: '72h' } }, false],
    ['not its provider id', { providerId: 'azure:///x' }, false],
  ])('%s', (_, shape, isChange) => {
    expect(digest(shape) !== digest({})).toBe(isChange);
  });
});

describe('what wakes a rollout in a Node', () => {
  const initialized = nodeOf({});
  const heartbeat: Node = {
    ...initialized,
    status: {
      ...initialized.status,
      conditions: [...(initialized.status?.conditions ?? []), isTrueSince('DiskPressure', '2026-01-05T12:59:50Z')],
    },
  };

  it.each<[string, Node, boolean]>([
    ['that it is not Ready', nodeOf({ isReady: false }), true],
    ['that it is protected', nodeOf({ doNotDisrupt: 'true' }), true],
    ['that it is being deleted', nodeOf({ isNodeDeleted: true }), true],
    ['that it is Initialized', nodeOf({ isInitialized: false }), true],
    ['not a heartbeat', heartbeat, false],
    ['not our own taint', nodeOf({ isTainted: true, isMarkedWaiting: true }), false],
  ])('%s', (_, other, isChange) => {
    expect(nodeDigest(other) !== nodeDigest(initialized)).toBe(isChange);
  });

  it('not whether it is Ready before it is Initialized', () => {
    expect(nodeDigest(nodeOf({ isInitialized: false }))).toBe(
      nodeDigest(nodeOf({ isInitialized: false, isReady: false })),
    );
  });
});

describe('what wakes a rollout in a pod', () => {
  const guarded: PodShape = { doNotDisrupt: 'true', nodeName: 'aks-a' };

  it.each<[string, PodShape, boolean]>([
    ['that it is protected no more', { nodeName: 'aks-a' }, true],
    ['that it ends', { ...guarded, phase: 'Succeeded' }, true],
    ['that it is being deleted', { ...guarded, isTerminating: true }, true],
    ['that it is protected for a while only', { ...guarded, doNotDisrupt: '4h' }, true],
    ['that it has its node', { ...guarded, nodeName: 'aks-b' }, true],
    ['that it is nominated', { ...guarded, nominatedTo: 'aks-b' }, true],
    ['not its readiness', { ...guarded, isReady: false }, false],
    ['not its labels', { ...guarded, labels: { a: 'b' } }, false],
  ])('%s', (_, shape, isChange) => {
    expect(podDigest(podOf('a', shape)) !== podDigest(podOf('a', guarded))).toBe(isChange);
  });

  it('that the time of its protection begins', () => {
    const shape = { ...guarded, doNotDisrupt: '4h' };
    expect(podDigest(podOf('a', { ...shape, startedAt: null }))).not.toBe(podDigest(podOf('a', shape)));
  });
});

describe('what wakes a rollout in a PodDisruptionBudget', () => {
  const blocking: BudgetShape = { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 2 };
  const digest = (shape: BudgetShape, generation = 1): string => {
    const { metadata, ...rest } = podDisruptionBudgetOf('a', shape);
    return podDisruptionBudgetDigest({ metadata: { ...metadata, generation }, ...rest });
  };

  it('that it allows again, its spec, and that enough are healthy for the others to go', () => {
    expect(digest({ ...blocking, disruptionsAllowed: 1 })).not.toBe(digest(blocking));
    expect(digest({ ...blocking, currentHealthy: 2 })).not.toBe(digest(blocking));
    expect(digest(blocking, 2)).not.toBe(digest(blocking));
  });

  it('not how many it allows', () => {
    expect(digest({ disruptionsAllowed: 3, currentHealthy: 5, desiredHealthy: 2 })).toBe(
      digest({ disruptionsAllowed: 1, currentHealthy: 3, desiredHealthy: 2 }),
    );
  });
});
