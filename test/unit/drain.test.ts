import { describe, expect, it } from '@jest/globals';

import type { Pod, Taint } from '../../karpenter/api.js';
import { isDrainable, isWorkload, nextDrainStep } from '../../karpenter/drain.js';

const taint: Taint = { key: 'karpenter.sh/disrupted', effect: 'NoSchedule' };

interface PodShape {
  readonly ownerKind?: string;
  readonly priorityClassName?: string;
  readonly isTerminating?: true;
  readonly isMirror?: true;
  readonly phase?: string;
  readonly tolerations?: Pod['spec']['tolerations'];
}

function podOf(name: string, shape: PodShape = {}): Pod {
  return {
    metadata: {
      name,
      namespace: 'shop',
      uid: `uid-${name}`,
      ...(shape.isTerminating ? { deletionTimestamp: '2026-01-05T12:00:00Z' } : {}),
      annotations: shape.isMirror ? { 'kubernetes.io/config.mirror': 'hash' } : {},
      ownerReferences: [{ kind: shape.ownerKind ?? 'ReplicaSet', name: 'owner', uid: 'uid-owner' }],
    },
    spec: { priorityClassName: shape.priorityClassName, tolerations: shape.tolerations, containers: [] },
    status: { phase: shape.phase ?? 'Running' },
  };
}

function stepOf(pods: readonly Pod[]) {
  const { evict, terminating, later } = nextDrainStep(pods, taint);
  const names = (some: readonly Pod[]): string[] => some.map(({ metadata }) => metadata.name);
  return { evict: names(evict), terminating: names(terminating), later: names(later) };
}

describe('the order of a drain', () => {
  const inOrder = [
    podOf('workload'),
    podOf('agent', { ownerKind: 'DaemonSet' }),
    podOf('dns', { priorityClassName: 'system-cluster-critical' }),
    podOf('proxy', { ownerKind: 'DaemonSet', priorityClassName: 'system-node-critical' }),
  ];

  it.each([0, 1, 2, 3])('is non-critical before critical, daemon pods last in each: step %d', (step) => {
    const left = inOrder.slice(step);
    const [first, ...later] = left.map(({ metadata }) => metadata.name);
    expect(stepOf(left.toReversed())).toEqual({ evict: [first], terminating: [], later: later.toReversed() });
  });

  it('waits for those that are going before the next group’s turn comes', () => {
    const pods = [podOf('going', { isTerminating: true }), podOf('dns', { priorityClassName: 'system-node-critical' })];
    expect(stepOf(pods)).toEqual({ evict: [], terminating: ['going'], later: ['dns'] });
  });

  it('evicts the rest of a group beside those that are going', () => {
    expect(stepOf([podOf('going', { isTerminating: true }), podOf('next')])).toEqual({
      evict: ['next'],
      terminating: ['going'],
      later: [],
    });
  });

  it.each<[string, readonly Pod[]]>([
    ['there is none', []],
    ['only pods are left that stay', [podOf('static', { isMirror: true }), podOf('done', { phase: 'Succeeded' })]],
  ])('ends when %s', (_, pods) => {
    expect(stepOf(pods)).toEqual({ evict: [], terminating: [], later: [] });
  });
});

describe('a pod', () => {
  it.each<[string, PodShape, { isDrainable: boolean; isWorkload: boolean }]>([
    ['of a workload is drained and would be missed', {}, { isDrainable: true, isWorkload: true }],
    ['that is pending too', { phase: 'Pending' }, { isDrainable: true, isWorkload: true }],
    ['of a DaemonSet is drained and not missed', { ownerKind: 'DaemonSet' }, { isDrainable: true, isWorkload: false }],
    [
      'that mirrors a static one stays',
      { isMirror: true, ownerKind: 'Node' },
      { isDrainable: false, isWorkload: false },
    ],
    ['that succeeded stays', { phase: 'Succeeded' }, { isDrainable: false, isWorkload: false }],
    ['that failed stays', { phase: 'Failed' }, { isDrainable: false, isWorkload: false }],
  ])('%s', (_, shape, expected) => {
    const pod = podOf('a', shape);
    expect({ isDrainable: isDrainable(pod, taint), isWorkload: isWorkload(pod, taint) }).toEqual(expected);
  });

  it.each<[string, NonNullable<PodShape['tolerations']>[number], boolean]>([
    ['everything', { operator: 'Exists' }, true],
    ['everything of an effect', { operator: 'Exists', effect: 'NoSchedule' }, true],
    ['everything of another effect', { operator: 'Exists', effect: 'NoExecute' }, false],
    ['the key', { key: taint.key, operator: 'Exists' }, true],
    ['the key with the empty value', { key: taint.key }, true],
    ['the key with another value', { key: taint.key, operator: 'Equal', value: 'x' }, false],
    ['the key with any effect', { key: taint.key, operator: 'Exists', effect: '' }, true],
    ['another key', { key: 'node.kubernetes.io/not-ready', operator: 'Exists' }, false],
    ['no key at all, by value', { operator: 'Equal', value: '' }, false],
  ])('that tolerates %s: stays %s', (_, toleration, stays) => {
    expect(isDrainable(podOf('a', { tolerations: [toleration] }), taint)).toBe(!stays);
  });
});
