import { describe, expect, it } from '@jest/globals';

import { isProtected, isReschedulable, protectionOf, tolerates } from '../../karpenter/pods.js';
import { disruption } from '../../karpenter/replacement.js';
import type { PodShape } from './podFixture.js';
import { podOf, podStartedAt } from './podFixture.js';

const startedMs = Date.parse(podStartedAt);

describe('do-not-disrupt on a pod', () => {
  it.each<[string, PodShape, ReturnType<typeof protectionOf>]>([
    ['that is absent', {}, { kind: 'none' }],
    ['"true"', { doNotDisrupt: 'true' }, { kind: 'always' }],
    ['"false"', { doNotDisrupt: 'false' }, { kind: 'none' }],
    ['"True"', { doNotDisrupt: 'True' }, { kind: 'none' }],
    ['nothing', { doNotDisrupt: '' }, { kind: 'none' }],
    ['no duration', { doNotDisrupt: 'nonsense' }, { kind: 'none' }],
    ['a number without a unit', { doNotDisrupt: '10' }, { kind: 'none' }],
    ['no time', { doNotDisrupt: '0s' }, { kind: 'none' }],
    ['less than no time', { doNotDisrupt: '-5m' }, { kind: 'none' }],
    ['a duration', { doNotDisrupt: '4h' }, { kind: 'until', untilMs: startedMs + 4 * 3_600_000 }],
    ['a compound duration', { doNotDisrupt: '1h30m' }, { kind: 'until', untilMs: startedMs + 5_400_000 }],
    ['a duration, before its start', { doNotDisrupt: '4h', startedAt: null }, { kind: 'always' }],
    ['"true", on a pod that has ended well', { doNotDisrupt: 'true', phase: 'Succeeded' }, { kind: 'none' }],
    ['"true", on a pod that has failed', { doNotDisrupt: 'true', phase: 'Failed' }, { kind: 'none' }],
    ['"true", on a pod that is being deleted', { doNotDisrupt: 'true', isTerminating: true }, { kind: 'none' }],
    ['"true", on a DaemonSet\'s pod', { doNotDisrupt: 'true', ownerKind: 'DaemonSet' }, { kind: 'always' }],
    ['"true", on a mirror pod', { doNotDisrupt: 'true', isMirror: true }, { kind: 'always' }],
  ])('saying %s', (_, shape, expected) => {
    expect(protectionOf(podOf('a', shape))).toEqual(expected);
  });

  it('holds up to its end and not at it', () => {
    const pod = podOf('a', { doNotDisrupt: '10m' });
    expect(isProtected(pod, startedMs + 599_999)).toBe(true);
    expect(isProtected(pod, startedMs + 600_000)).toBe(false);
    expect(isProtected(podOf('b', { doNotDisrupt: 'true' }), Number.MAX_SAFE_INTEGER)).toBe(true);
    expect(isProtected(podOf('c'), startedMs)).toBe(false);
  });
});

describe('a pod that has to find another node', () => {
  it.each<[string, PodShape, boolean]>([
    ['one that runs', {}, true],
    ['one that is pending', { phase: 'Pending' }, true],
    ['one that has ended well', { phase: 'Succeeded' }, false],
    ['one that has failed', { phase: 'Failed' }, false],
    ["a DaemonSet's", { ownerKind: 'DaemonSet' }, false],
    ["a Node's", { ownerKind: 'Node' }, false],
    ['a mirror pod', { isMirror: true }, false],
    ['one that is being deleted', { isTerminating: true }, false],
    [
      "a StatefulSet's that is being deleted: it comes back under its name",
      { ownerKind: 'StatefulSet', isTerminating: true },
      true,
    ],
    ["a StatefulSet's that has ended", { ownerKind: 'StatefulSet', isTerminating: true, phase: 'Failed' }, false],
  ])('is %s: %s', (_, shape, expected) => {
    expect(isReschedulable(podOf('a', shape))).toBe(expected);
  });
});

describe('toleration of the taint of a node that is replaced', () => {
  const { key, effect } = disruption;

  it.each<[NonNullable<PodShape['tolerations']>[number], boolean]>([
    [{ operator: 'Exists' }, true],
    [{ key, operator: 'Exists' }, true],
    [{ key, operator: 'Exists', effect }, true],
    [{ key, operator: 'Exists', effect: 'NoExecute' }, false],
    [{ key: 'other', operator: 'Exists' }, false],
    [{ key, operator: 'Equal', value: '' }, true],
    [{ key }, true],
    [{ key, value: 'disrupting' }, false],
    [{ key: '', operator: 'Exists', effect: '' }, true],
    [{ operator: 'Equal' }, false],
  ])('%j: %s', (toleration, expected) => {
    expect(tolerates(podOf('a', { tolerations: [toleration] }), disruption)).toBe(expected);
  });

  it('is none without tolerations', () => {
    expect(tolerates(podOf('a'), disruption)).toBe(false);
  });
});
