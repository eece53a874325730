import { describe, expect, it } from '@jest/globals';

import { LimitsLedger } from '../../karpenter/limits.js';
import type { Machine } from '../../karpenter/pool.js';
import type { MachineShape } from './poolFixture.js';
import { machineOf, machinesOf, poolOf } from './poolFixture.js';

const capacity = { cpu: '4', memory: '16Gi' };
const offering = { instanceType: 'Standard_D4as_v5', zone: 'westus2-1', capacityType: 'on-demand' };

/** Of these machines in turn, how many get a share. */
function granted(
  machines: readonly Machine[],
  limits: Readonly<Record<string, string>>,
  inFlight: readonly string[] = [],
  asking: readonly Machine[] = machines,
): number {
  const ledger = new LimitsLedger(poolOf(machines, { limits }), new Set(inFlight));
  let count = 0;
  for (const machine of asking) {
    if (ledger.refusal(machine) !== undefined) continue;
    ledger.reserve(machine);
    count += 1;
  }
  return count;
}

describe('the limits of a NodePool', () => {
  it.each<[string, Readonly<Record<string, string>>, number]>([
    ['none', {}, 5],
    ['nodes: no room', { nodes: '5' }, 0],
    ['nodes: less than there are', { nodes: '2' }, 0],
    ['nodes: room for two', { nodes: '7' }, 2],
    ['cpu: no room', { cpu: '20' }, 0],
    ['cpu: not quite room for one', { cpu: '23999m' }, 0],
    ['cpu: room for one', { cpu: '24' }, 1],
    ['memory: room for three', { memory: '128Gi' }, 3],
    ['memory: not quite room for three', { memory: '137438953471' }, 2],
    ['the tightest of several', { cpu: '1000', memory: '112Gi', nodes: '9' }, 2],
    ['of what nobody has', { 'nvidia.com/gpu': '0' }, 5],
  ])('%s', (_, limits, expected) => {
    expect(granted(machinesOf('n', 5, { capacity }), limits)).toBe(expected);
  });

  it('say what is missing', () => {
    const [machine = machineOf('none'), ...others] = machinesOf('n', 5, { capacity });
    const ledger = new LimitsLedger(poolOf([machine, ...others], { limits: { cpu: '22' } }), new Set());
    expect(ledger.refusal(machine)).toEqual({
      why: "the NodePool's limits leave no room for a replacement: spec.limits.cpu is 22, 20 are used or promised, 4 more are needed",
      remedy: 'raise spec.limits.cpu of the NodePool, or wait for nodes to go',
      untilMs: null,
    });
  });

  it('count what is being deleted until it is gone', () => {
    const leaving = machineOf('leaving', { capacity, isDeleted: true, isInstanceTerminating: true });
    expect(granted([leaving, ...machinesOf('n', 2, { capacity })], { nodes: '4' }, [], machinesOf('n', 2))).toBe(1);
  });

  it('count what is promised to those in flight, until their replacement is there itself', () => {
    const machines = machinesOf('n', 3, { capacity });
    const free = machines.slice(2);
    expect(granted(machines, { nodes: '4' }, [], free)).toBe(1);
    expect(granted(machines, { nodes: '4' }, ['n-0'], free)).toBe(0);
    const withReplacement = [...machines, machineOf('new', { capacity, replaces: 'uid-n-0' })];
    expect(granted(withReplacement, { nodes: '5' }, ['n-0'], free)).toBe(1);
    expect(granted(withReplacement, { nodes: '4' }, ['n-0'], free)).toBe(0);
  });

  it('count a failed launch that is being removed, and the promise beside it', () => {
    const machines = machinesOf('n', 3, { capacity });
    const failed = machineOf('new', { capacity, replaces: 'uid-n-0', isDeleted: true });
    expect(granted([...machines, failed], { nodes: '5' }, ['n-0'], machines.slice(2))).toBe(0);
    expect(granted([...machines, failed], { nodes: '6' }, ['n-0'], machines.slice(2))).toBe(1);
  });

  const unsaid: [string, MachineShape][] = [
    ['as others of its VM size', { offering }],
    [
      'as what it replaces, where nobody has its VM size',
      { replaces: 'uid-n-0', offering: { ...offering, instanceType: 'Standard_D8as_v5' } },
    ],
    ['as what it replaces, where its VM size is not known', { replaces: 'uid-n-0' }],
  ];
  it.each(unsaid)('count a replacement that has not said what it has %s', (_, shape) => {
    const machines = [...machinesOf('n', 2, { capacity, offering }), machineOf('new', { hasNode: false, ...shape })];
    expect(granted(machines, { cpu: '15' }, [], machines.slice(0, 1))).toBe(0);
    expect(granted(machines, { cpu: '16' }, [], machines.slice(0, 1))).toBe(1);
  });

  it('need no further share for a replacement that an earlier try has brought up', () => {
    const old = machineOf('old', { capacity });
    const serving: MachineShape = { capacity, replaces: 'uid-old', trueConditions: ['Initialized'] };
    const limits = { nodes: '2' };
    expect(granted([old, machineOf('new', serving)], limits, [], [old])).toBe(1);
    expect(granted([old, machineOf('new', { ...serving, trueConditions: [] })], limits, [], [old])).toBe(0);
    expect(
      granted([old, machineOf('new', { ...serving, driftedSince: '2026-01-05T12:00:00Z' })], limits, [], [old]),
    ).toBe(0);
    expect(granted([old, machineOf('new', { ...serving, isDeleted: true })], limits, [], [old])).toBe(0);
  });

  it('forgive the rounding of sums', () => {
    expect(granted(machinesOf('n', 2, { capacity: { cpu: '100m' } }), { cpu: '300m' })).toBe(1);
  });

  it('that are no quantities are an error, not no limits', () => {
    expect(() => granted(machinesOf('n', 1), { cpu: 'many' })).toThrow('"many" is not a Kubernetes quantity');
  });
});
