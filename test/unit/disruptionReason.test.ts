import { describe, expect, it } from '@jest/globals';

import type { Disruption } from '../../karpenter/disruptionReason.js';
import { disruptionOf, expiryDueMs, isBornDrifted, isEventual } from '../../karpenter/disruptionReason.js';
import type { MachineShape } from './poolFixture.js';
import { isTrueSince, machineOf, nodePoolOf } from './poolFixture.js';

const createdAt = '2026-01-05T00:00:00Z';
const createdMs = Date.parse(createdAt);
const hourMs = 3_600_000;
const rule = { expiryLeadMs: hourMs };
const since = '2026-01-05T12:00:00Z';

function disruptionAt(shape: MachineShape, atMs = createdMs, named?: string): Disruption | undefined {
  const annotations: Record<string, string> = {};
  if (named !== undefined) annotations['driftless.dev/disruption-conditions'] = named;
  return disruptionOf(nodePoolOf({ annotations }), machineOf('a', { createdAt, ...shape }).nodeClaim, rule, atMs);
}

describe('why a NodeClaim is to be replaced', () => {
  it.each(['Drifted', 'Unhealthy', 'Expired', 'Underutilized', 'Empty'])(
    'is its condition %s, with its detail',
    (type) => {
      const condition = { ...isTrueSince(type, since), reason: 'Detail' };
      expect(disruptionAt({ conditions: [condition] })).toEqual({ reason: type, detail: 'Detail', since });
    },
  );

  it.each<[string, MachineShape]>([
    ['nothing', {}],
    ['a condition that is False', { falseConditions: ['Drifted'] }],
    ['a condition that is Unknown', { conditions: [{ type: 'Drifted', status: 'Unknown' }] }],
    ['a condition that nobody has named', { trueConditions: ['Consolidatable', 'Rotten'] }],
  ])('is not %s', (_, shape) => {
    expect(disruptionAt(shape)).toBeUndefined();
  });

  it('is the more urgent of two conditions', () => {
    expect(disruptionAt({ trueConditions: ['Empty', 'Underutilized', 'Drifted'] })).toMatchObject({
      reason: 'Drifted',
    });
  });

  it('is a condition that the owner of the pool has named, after Karpenter’s own', () => {
    expect(disruptionAt({ trueConditions: ['Rotten'] }, createdMs, 'Old, Rotten')).toMatchObject({ reason: 'Rotten' });
    expect(disruptionAt({ trueConditions: ['Rotten', 'Empty'] }, createdMs, 'Rotten')).toMatchObject({
      reason: 'Empty',
    });
    expect(disruptionAt({ trueConditions: [''] }, createdMs, ' , ')).toBeUndefined();
  });

  it('tells a condition without a reason or an instant by its type', () => {
    expect(disruptionAt({ conditions: [{ type: 'Drifted', status: 'True' }] })).toEqual({
      reason: 'Drifted',
      detail: 'Drifted',
      since: '',
    });
  });
});

describe('a replacement by hand', () => {
  const byHand = (text: string): MachineShape => ({ annotations: { 'driftless.dev/replace': text } });

  it.each([
    ['true', 'ByHand'],
    ['', 'ByHand'],
    ['kernel panic on 2026-01-04', 'kernel panic on 2026-01-04'],
  ])('is asked for by "%s"', (text, detail) => {
    expect(disruptionAt({ ...byHand(text), driftedSince: since })).toEqual({ reason: 'Manual', detail, since: '' });
  });

  it('is not by exactly `false`, which takes nothing else away', () => {
    expect(disruptionAt(byHand('false'))).toBeUndefined();
    expect(disruptionAt({ ...byHand('false'), driftedSince: since })).toMatchObject({ reason: 'Drifted' });
  });
});

describe('expiry', () => {
  it.each<[string, number]>([
    // The lead of an hour is less than a tenth of the life.
    ['720h', 719 * hourMs],
    ['10h', 9 * hourMs],
    // It is not more than a tenth of it.
    ['5h', 4.5 * hourMs],
    ['10m', 9 * 60_000],
    ['0s', 0],
  ])('of %s begins %d ms after the creation, not before', (expireAfter, dueMs) => {
    const spec = { expireAfter };
    const dueAt = new Date(createdMs + dueMs).toISOString();
    expect(disruptionAt({ spec }, createdMs + dueMs - 1)).toBeUndefined();
    expect(disruptionAt({ spec }, createdMs + dueMs)).toEqual({
      reason: 'Expired',
      detail: `expireAfter ${expireAfter}`,
      since: dueAt,
    });
  });

  it.each([['Never'], ['soon'], ['']])('of "%s" never comes', (expireAfter) => {
    const { nodeClaim } = machineOf('a', { createdAt, spec: { expireAfter } });
    expect(expiryDueMs(nodeClaim, rule)).toBeUndefined();
  });

  it('never comes where nothing is said, or the creation is not known', () => {
    const { nodeClaim } = machineOf('a', { spec: { expireAfter: '1h' } });
    expect(expiryDueMs(machineOf('a').nodeClaim, rule)).toBeUndefined();
    expect(expiryDueMs({ ...nodeClaim, metadata: { name: 'a', uid: 'uid-a' } }, rule)).toBeUndefined();
  });

  it('comes after a condition: who is drifted and expires is Drifted', () => {
    expect(disruptionAt({ driftedSince: since, spec: { expireAfter: '1h' } }, createdMs + hourMs)).toMatchObject({
      reason: 'Drifted',
    });
  });
});

describe('a reason', () => {
  it.each([
    ['Drifted', true],
    ['Expired', true],
    ['Unhealthy', true],
    ['Manual', true],
    ['Underutilized', false],
    ['Empty', false],
  ])('%s lets a terminationGracePeriod pass over pods: %s', (reason, expected) => {
    expect(isEventual({ reason, detail: '', since: '' })).toBe(expected);
  });
});

describe('a replacement that is born drifted', () => {
  it('says so itself', () => {
    expect(isBornDrifted(machineOf('a', { driftedSince: since }).nodeClaim)).toBe(true);
    expect(isBornDrifted(machineOf('a', { falseConditions: ['Drifted'] }).nodeClaim)).toBe(false);
    expect(isBornDrifted(machineOf('a').nodeClaim)).toBe(false);
  });
});
