import { describe, expect, it } from '@jest/globals';

import type { Pod, Taint } from '../../karpenter/api.js';
import {
  isBare,
  isDrainable,
  isDrained,
  isStuckTerminating,
  isWorkload,
  nextDrainStep,
} from '../../karpenter/drain.js';

const taint: Taint = { key: 'karpenter.sh/disrupted', effect: 'NoSchedule' };
const nowMs = Date.parse('2026-01-05T12:00:00Z');
const minuteMs = 60_000;

interface PodShape {
  readonly ownerKind?: string;
  readonly priorityClassName?: string;
  /** When its grace ends, in milliseconds from now. */
  readonly endsInMs?: number;
  readonly isMirror?: true;
  readonly isProtected?: true;
  readonly phase?: string;
  readonly graceSeconds?: number;
  readonly tolerations?: Pod['spec']['tolerations'];
}

function podOf(name: string, shape: PodShape = {}): Pod {
  const { endsInMs, graceSeconds = 30 } = shape;
  return {
    metadata: {
      name,
      namespace: 'shop',
      uid: `uid-${name}`,
      ...(endsInMs === undefined
        ? {}
        : { deletionTimestamp: new Date(nowMs + endsInMs).toISOString(), deletionGracePeriodSeconds: graceSeconds }),
      annotations: {
        ...(shape.isMirror ? { 'kubernetes.io/config.mirror': 'hash' } : {}),
        ...(shape.isProtected ? { 'karpenter.sh/do-not-disrupt': 'true' } : {}),
      },
      ownerReferences: [{ kind: shape.ownerKind ?? 'ReplicaSet', name: 'owner', uid: 'uid-owner', controller: true }],
    },
    spec: {
      priorityClassName: shape.priorityClassName,
      tolerations: shape.tolerations,
      terminationGracePeriodSeconds: graceSeconds,
      containers: [],
    },
    status: { phase: shape.phase ?? 'Running' },
  };
}

/** The step's pods by name, those that are deleted with their grace in seconds; what is empty is left out. */
function stepOf(pods: readonly Pod[], deadlineInMs?: number): Readonly<Record<string, readonly string[]>> {
  const deadlineMs = deadlineInMs === undefined ? undefined : nowMs + deadlineInMs;
  const { forceDelete, ...others } = nextDrainStep(pods, taint, { nowMs, deadlineMs });
  const entries = Object.entries<readonly string[]>({
    ...Object.fromEntries(
      Object.entries(others).map(([part, some]) => [part, some.map(({ metadata }) => metadata.name)]),
    ),
    forceDelete: forceDelete.map(({ pod, graceSeconds }) => `${pod.metadata.name} ${graceSeconds}`),
  });
  return Object.fromEntries(entries.filter(([, names]) => names.length > 0));
}

describe('the order of a drain', () => {
  const inOrder = [
    podOf('workload'),
    podOf('agent', { ownerKind: 'DaemonSet' }),
    podOf('dns', { priorityClassName: 'system-cluster-critical' }),
    podOf('proxy', { ownerKind: 'DaemonSet', priorityClassName: 'system-node-critical' }),
  ];

  it.each([0, 1, 2])('is non-critical before critical, daemon pods last in each: step %d', (step) => {
    const left = inOrder.slice(step);
    const [first, ...later] = left.map(({ metadata }) => metadata.name);
    expect(stepOf(left.toReversed())).toEqual({ evict: [first], later: later.toReversed() });
  });

  it('r152: has the CSI driver’s node pod wait for the StatefulSet pod to end', () => {
    const csi = podOf('csi', { ownerKind: 'DaemonSet', priorityClassName: 'system-node-critical' });
    const database = { ownerKind: 'StatefulSet' } as const;
    expect(stepOf([csi, podOf('db-0', database)])).toEqual({ evict: ['db-0'], later: ['csi'] });
    expect(stepOf([csi, podOf('db-0', { ...database, endsInMs: 1 })])).toEqual({
      terminating: ['db-0'],
      later: ['csi'],
    });
    expect(stepOf([csi])).toEqual({ evict: ['csi'] });
  });

  it('evicts the rest of a group beside those that are going', () => {
    expect(stepOf([podOf('going', { endsInMs: 1 }), podOf('next')])).toEqual({
      evict: ['next'],
      terminating: ['going'],
    });
  });

  it('r162: asks for all pods of a group at once', () => {
    const pods = Array.from({ length: 30 }, (_, index) => podOf(`web-${index}`));
    expect(nextDrainStep(pods, taint, { nowMs }).evict).toHaveLength(30);
  });

  it('evicts the others of a group while one is protected, and none of a later group', () => {
    const pods = [
      podOf('batch', { isProtected: true }),
      podOf('web'),
      podOf('dns', { priorityClassName: 'system-node-critical' }),
    ];
    expect(stepOf(pods)).toEqual({ protected: ['batch'], evict: ['web'], later: ['dns'] });
    expect(stepOf(pods.slice(0, 1))).toEqual({ protected: ['batch'] });
  });

  it.each<[string, readonly Pod[]]>([
    ['there is none', []],
    [
      'r153: only pods are left that have ended',
      [podOf('done', { phase: 'Succeeded' }), podOf('failed', { phase: 'Failed' })],
    ],
    ['r150: only static pods are left', [podOf('static', { isMirror: true }), podOf('kept', { ownerKind: 'Node' })]],
    ['only pods are left that tolerate the taint', [podOf('agent', { tolerations: [{ operator: 'Exists' }] })]],
  ])('ends when %s', (_, pods) => {
    expect(stepOf(pods)).toEqual({});
    expect(isDrained(nextDrainStep(pods, taint, { nowMs }))).toBe(true);
  });
});

describe('a terminating pod', () => {
  it.each([
    { id: 'r155', endedMs: 1_000, stuck: false },
    { id: 'r155', endedMs: minuteMs, stuck: false },
    { id: 'r155', endedMs: minuteMs + 1_000, stuck: true },
    { id: 'r161', endedMs: 3_600_000, stuck: true },
    { id: 'r138', endedMs: -30_000, stuck: false },
  ])('$id: whose grace ended $endedMs ms ago is stuck: $stuck', ({ endedMs, stuck }) => {
    expect(isStuckTerminating(podOf('db-0', { endsInMs: -endedMs }), nowMs)).toBe(stuck);
  });

  it('r154: of a dead kubelet does not hold the drain', () => {
    const pods = [
      podOf('db-0', { endsInMs: -2 * minuteMs }),
      podOf('dns', { priorityClassName: 'system-node-critical' }),
    ];
    expect(stepOf(pods)).toEqual({ stuck: ['db-0'], evict: ['dns'] });
    expect(isDrained(nextDrainStep(pods.slice(0, 1), taint, { nowMs }))).toBe(true);
  });

  it('is not evicted again, and no annotation protects it', () => {
    expect(stepOf([podOf('going', { endsInMs: 1, isProtected: true })])).toEqual({ terminating: ['going'] });
  });
});

describe('the deadline of a terminationGracePeriod', () => {
  it.each([
    { leftMs: 31_000, expected: { protected: ['batch'] } },
    { leftMs: 30_000, expected: { protected: ['batch'] } },
    { leftMs: 29_000, expected: { forceDelete: ['batch 29'] } },
    { leftMs: 1_900, expected: { forceDelete: ['batch 1'] } },
    { leftMs: -1, expected: { forceDelete: ['batch 1'] } },
  ])('r042: with $leftMs ms left has a protected pod of 30 s grace: $expected', ({ leftMs, expected }) => {
    expect(stepOf([podOf('batch', { isProtected: true })], leftMs)).toEqual(expected);
  });

  it('waits for no order', () => {
    const dns = podOf('dns', { priorityClassName: 'system-node-critical', graceSeconds: 120 });
    expect(stepOf([podOf('web'), dns], minuteMs)).toEqual({ evict: ['web'], forceDelete: ['dns 60'] });
  });

  it('cuts a pod short that would terminate beyond it, once it is at its shortest no more', () => {
    expect(stepOf([podOf('slow', { endsInMs: 2 * minuteMs })], minuteMs)).toEqual({ forceDelete: ['slow 60'] });
    expect(stepOf([podOf('quick', { endsInMs: minuteMs })], minuteMs)).toEqual({ terminating: ['quick'] });
    expect(stepOf([podOf('cut', { endsInMs: 1_000, graceSeconds: 1 })], 0)).toEqual({ terminating: ['cut'] });
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

  it('is bare without a controller, whoever else owns it', () => {
    const owned = podOf('a');
    expect(isBare(owned)).toBe(false);
    expect(isBare({ ...owned, metadata: { ...owned.metadata, ownerReferences: undefined } })).toBe(true);
    const owner = { kind: 'Backup', name: 'b', uid: 'u' };
    expect(isBare({ ...owned, metadata: { ...owned.metadata, ownerReferences: [owner] } })).toBe(true);
  });
});
