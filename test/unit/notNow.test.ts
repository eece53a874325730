import { describe, expect, it } from '@jest/globals';

import type { Pod, PodDisruptionBudget } from '../../karpenter/api.js';
import type { Disruption } from '../../karpenter/disruptionReason.js';
import type { NotNow, NotNowRules } from '../../karpenter/notNow.js';
import { notNowWhy } from '../../karpenter/notNow.js';
import type { Machine } from '../../karpenter/pool.js';
import type { PodShape } from './podFixture.js';
import { podDisruptionBudgetOf, podOf, podStartedAt } from './podFixture.js';
import type { MachineShape } from './poolFixture.js';
import { easyRules, isTrueSince, machineOf, machinesOf, poolOf } from './poolFixture.js';

const atMs = Date.parse('2026-01-05T13:00:00Z');
const drifted: Disruption = { reason: 'Drifted', detail: 'ImageDrift', since: '2026-01-05T12:00:00Z' };
const byHand: Disruption = { reason: 'Manual', detail: 'ByHand', since: '' };

interface Story {
  readonly disruption?: Disruption;
  readonly rules?: NotNowRules;
  readonly atMs?: number;
  readonly pending?: readonly Pod[];
  readonly budgets?: readonly PodDisruptionBudget[];
  readonly replicas?: number;
  readonly others?: readonly Machine[];
}

function whyOf(shape: MachineShape, story: Story = {}): NotNow | undefined {
  const { disruption = drifted, rules = easyRules, pending = [], budgets = [], replicas, others = [] } = story;
  const machine = machineOf('a', shape);
  const pool = poolOf([machine, ...others], replicas === undefined ? {} : { replicas });
  const parts = { pendingPods: pending, podDisruptionBudgets: budgets };
  return notNowWhy({ ...pool, ...parts }, machine, disruption, rules, story.atMs ?? atMs);
}

describe('the node itself', () => {
  it.each<[string, MachineShape, string | undefined]>([
    ['is at work', {}, undefined],
    ['is being deleted', { isDeleted: true }, 'it is being deleted already'],
    ['is being deleted as a Node', { isNodeDeleted: true }, 'it is being deleted already'],
    ['is not there', { hasNode: false }, 'it has no Node yet'],
    ['is not initialized', { isInitialized: false }, 'its Node is not initialized yet'],
    ['reboots', { trueConditions: ['Rebooting'], isInitialized: false }, 'it is rebooting'],
    ['is annotated', { doNotDisrupt: 'true' }, 'its Node is annotated karpenter.sh/do-not-disrupt'],
    ['is tainted by somebody else', { isTainted: true }, 'its Node is being disrupted by somebody else'],
    ['is tainted by an earlier try of ours', { isTainted: true, workflow: 'replace/cluster/a/uid-a' }, undefined],
    ['is annotated otherwise', { doNotDisrupt: 'false' }, undefined],
    // On nodes Karpenter knows no durations.
    ['is annotated with a duration', { doNotDisrupt: '4h' }, undefined],
    [
      'has a deadline and is annotated',
      { doNotDisrupt: 'true', spec: { terminationGracePeriod: '5m' } },
      'its Node is annotated karpenter.sh/do-not-disrupt',
    ],
  ])('%s', (_, shape, why) => {
    expect(whyOf(shape)?.why).toBe(why);
    expect(whyOf(shape, { disruption: byHand })?.why).toBe(why);
  });
});

describe('a pod that stands against the disruption', () => {
  const startedMs = Date.parse(podStartedAt);
  const forbidden = 'pod default/p is annotated karpenter.sh/do-not-disrupt';

  it.each<[string, PodShape, string | undefined]>([
    ['by annotation', { doNotDisrupt: 'true' }, forbidden],
    ['by annotation, though a DaemonSet’s', { doNotDisrupt: 'true', ownerKind: 'DaemonSet' }, forbidden],
    [
      'by annotation, though the taint does not move it',
      { doNotDisrupt: 'true', tolerations: [{ operator: 'Exists' }] },
      forbidden,
    ],
    ['no more: it has ended', { doNotDisrupt: 'true', phase: 'Succeeded' }, undefined],
    ['no more: it is being deleted', { doNotDisrupt: 'true', isTerminating: true }, undefined],
    ['by no valid annotation', { doNotDisrupt: 'nonsense' }, undefined],
    ['before it has started', { doNotDisrupt: '1m', startedAt: null }, forbidden],
  ])('%s', (_, pod, why) => {
    expect(whyOf({ pods: [podOf('o'), podOf('p', pod)] })?.why).toBe(why);
  });

  it('for a while is told with the end of it, and stands no longer then', () => {
    const pods = [podOf('p', { doNotDisrupt: '4h' })];
    const untilMs = startedMs + 4 * 3_600_000;
    expect(whyOf({ pods }, { atMs: untilMs - 1 })).toMatchObject({
      why: `${forbidden} until 2026-01-05T14:00:00.000Z`,
      untilMs,
    });
    expect(whyOf({ pods }, { atMs: untilMs })).toBeUndefined();
  });

  it.each<[string, PodShape, string | undefined]>([
    ['is refused', {}, 'pod default/p: PodDisruptionBudget default/budget allows no disruption now'],
    ['is not asked for when the pod tolerates the taint', { tolerations: [{ operator: 'Exists' }] }, undefined],
    ['is not asked for a mirror pod', { isMirror: true }, undefined],
    ['is not asked for a pod that a Node owns', { ownerKind: 'Node' }, undefined],
    ['is not asked for a pod that has ended', { phase: 'Failed' }, undefined],
    ['is not asked for a pod that is being deleted', { isTerminating: true }, undefined],
    [
      'is asked for a DaemonSet’s pod, too',
      { ownerKind: 'DaemonSet' },
      'pod default/p: PodDisruptionBudget default/budget allows no disruption now',
    ],
  ])('an eviction %s', (_, pod, why) => {
    expect(whyOf({ pods: [podOf('p', pod)] }, { budgets: [podDisruptionBudgetOf('budget')] })?.why).toBe(why);
  });

  it.each<[string, string, boolean]>([
    ['Drifted', '5m', false],
    ['Expired', '0s', false],
    ['Manual', '5m', false],
    // Karpenter's graceful reasons wait for the pods all the same.
    ['Underutilized', '5m', true],
    ['Empty', '5m', true],
  ])(
    'stands only until the deadline: %s with a terminationGracePeriod of %s is blocked: %s',
    (reason, deadline, isBlocked) => {
      const disruption = { ...drifted, reason };
      const spec = { terminationGracePeriod: deadline };
      const pods = [podOf('p', { doNotDisrupt: 'true' })];
      const budgets = [podDisruptionBudgetOf('budget')];
      expect(whyOf({ pods, spec }, { disruption }) !== undefined).toBe(isBlocked);
      expect(whyOf({ pods: [podOf('q')], spec }, { disruption, budgets }) !== undefined).toBe(isBlocked);
      expect(whyOf({ pods }, { disruption })?.why).toBe(forbidden);
    },
  );
});

describe('a pod that is nominated to the node', () => {
  it.each<[string, PodShape, string | undefined]>([
    ['has to be bound first', { nominatedTo: 'aks-a' }, 'pod default/p is nominated to its Node'],
    ['and is not, but to another', { nominatedTo: 'aks-b' }, undefined],
    ['and is not to any', {}, undefined],
    ['but has ended', { nominatedTo: 'aks-a', phase: 'Failed' }, undefined],
    ['but is being deleted', { nominatedTo: 'aks-a', isTerminating: true }, undefined],
  ])('%s', (_, pod, why) => {
    expect(whyOf({}, { pending: [podOf('p', { phase: 'Pending', ...pod })] })?.why).toBe(why);
    const spec = { terminationGracePeriod: '5m' };
    expect(whyOf({ spec }, { pending: [podOf('p', { phase: 'Pending', ...pod })] })?.why).toBe(why);
  });
});

describe('a node that has just started', () => {
  const rules = { ...easyRules, justStartedMs: 120_000 };
  const conditions = [isTrueSince('Initialized', '2026-01-05T13:00:00Z')];

  it('is left alone until its pods have come', () => {
    expect(whyOf({ conditions }, { rules, atMs: atMs + 119_999 })).toMatchObject({
      why: 'its Node has just started',
      untilMs: atMs + 120_000,
    });
    expect(whyOf({ conditions }, { rules, atMs: atMs + 120_000 })).toBeUndefined();
  });

  it('is not when a person asks for its replacement', () => {
    expect(whyOf({ conditions }, { rules, disruption: byHand })).toBeUndefined();
  });
});

describe('a replacement that is to be replaced itself', () => {
  const rules = { ...easyRules, flapMs: 1_800_000 };
  const createdAt = '2026-01-05T11:57:00Z';
  const flapEndsMs = Date.parse(createdAt) + rules.flapMs;
  const own = { replaces: 'uid-old', createdAt };

  it('is left alone for a while: it may be a loop, and is told as one', () => {
    expect(whyOf(own, { rules, atMs: flapEndsMs - 1 })).toEqual({
      why: 'it is a replacement itself and was Drifted (ImageDrift) 3 min after its creation: this may be a loop',
      remedy: 'look at what marks it Drifted',
      untilMs: flapEndsMs,
    });
    expect(whyOf(own, { rules, atMs: flapEndsMs })).toBeUndefined();
  });

  it('is not when a person asks for it, nor when it replaces nobody', () => {
    expect(whyOf(own, { rules, disruption: byHand, atMs: flapEndsMs - 1 })).toBeUndefined();
    expect(whyOf({ createdAt }, { rules, atMs: flapEndsMs - 1 })).toBeUndefined();
  });
});

describe('a static pool', () => {
  const tooMany = /^its static NodePool has 4 NodeClaims and replicas 3/;

  it('is scaled down first when it has too many nodes', () => {
    expect(whyOf({}, { replicas: 3, others: machinesOf('b', 3) })?.why).toMatch(tooMany);
    expect(whyOf({}, { replicas: 3, others: machinesOf('b', 2) })).toBeUndefined();
    expect(whyOf({}, { replicas: 3, others: machinesOf('b', 9), disruption: drifted })?.why).toMatch(
      /has 10 NodeClaims/,
    );
    expect(whyOf({}, { others: machinesOf('b', 9) })).toBeUndefined();
  });

  it('has not too many when one of them is being deleted', () => {
    expect(
      whyOf({}, { replicas: 3, others: [...machinesOf('b', 2), machineOf('c', { isDeleted: true })] }),
    ).toBeUndefined();
  });

  it('has not too many by a replacement of what is still there', () => {
    const others = [...machinesOf('b', 2), machineOf('new', { replaces: 'uid-b-0' })];
    expect(whyOf({}, { replicas: 3, others })).toBeUndefined();
  });

  it('has too many by replacements whose old nodes are gone', () => {
    const others = machinesOf('new', 3, { replaces: 'uid-gone' });
    expect(whyOf({}, { replicas: 3, others })?.why).toMatch(tooMany);
  });

  it('has too many when what a replacement replaces is being deleted and another one is surplus', () => {
    const others = [
      machineOf('old', { isDeleted: true }),
      machineOf('new', { replaces: 'uid-old' }),
      ...machinesOf('b', 2),
    ];
    expect(whyOf({}, { replicas: 3, others })?.why).toMatch(tooMany);
    expect(whyOf({}, { replicas: 4, others })).toBeUndefined();
  });
});
