import { describe, expect, it } from '@jest/globals';

import { LimitsLedger } from '../../karpenter/limits.js';
import type { PermitsInput } from '../../karpenter/permits.js';
import { Permits } from '../../karpenter/permits.js';
import type { Machine } from '../../karpenter/pool.js';
import { podOf } from './podFixture.js';
import type { NodePoolShape } from './poolFixture.js';
import { machineOf, machinesOf, poolOf } from './poolFixture.js';
import { candidateOf } from './rolloutFixture.js';

const ours = [podOf('worker', { labels: { 'app.kubernetes.io/name': 'driftless' } })];

function permitsFor(
  machines: readonly Machine[],
  input: Partial<PermitsInput> = {},
  nodePool: NodePoolShape = {},
): { readonly permits: Permits; readonly ask: (name: string, reason?: string) => string } {
  const pool = poolOf(machines, nodePool);
  const inFlight = input.inFlight ?? new Set();
  const permits = new Permits({
    pool,
    inFlight,
    disrupted: 0,
    onlyNotReady: new Set(),
    room: 500,
    allowedFor: () => Infinity,
    leftovers: new Set(),
    limits: new LimitsLedger(pool, inFlight),
    cluster: { room: Infinity, movesControlPlane: false },
    ...input,
  });
  const ask = (name: string, reason = 'Drifted'): string => {
    const machine = machines.find(({ nodeClaim }) => nodeClaim.metadata.name === name);
    if (machine === undefined) throw new Error(`this test has no machine ${name}`);
    const carriesControlPlane = machine.pods === ours;
    const isEmpty = name.startsWith('empty');
    return permits.ask({ ...candidateOf(name), reason, carriesControlPlane, isEmpty }, machine).kind;
  };
  return { permits, ask };
}

describe('permits', () => {
  it('are handed out until the budget is used up', () => {
    const { ask, permits } = permitsFor(machinesOf('n', 3), { disrupted: 1, allowedFor: () => 3 });
    expect(['n-0', 'n-1', 'n-2'].map((name) => ask(name))).toEqual(['start', 'start', 'wait']);
    expect(permits.isCapped).toBe(false);
  });

  it('of one reason count against every other', () => {
    const allowed = new Map([
      ['Drifted', 1],
      ['Empty', 3],
    ]);
    const { ask } = permitsFor(machinesOf('n', 5), { allowedFor: (reason) => allowed.get(reason) ?? Infinity });
    expect([ask('n-0', 'Empty'), ask('n-1'), ask('n-2', 'Empty'), ask('n-3', 'Empty'), ask('n-4', 'Empty')]).toEqual([
      'start',
      'wait',
      'start',
      'start',
      'wait',
    ]);
  });

  it('are not more than there is room for, whatever the budget says', () => {
    const { ask } = permitsFor(machinesOf('n', 3), { room: 1 });
    expect(['n-0', 'n-1', 'n-2'].map((name) => ask(name))).toEqual(['start', 'wait', 'wait']);
  });

  it('are not needed by those that count as disrupted already', () => {
    const { ask } = permitsFor(machinesOf('n', 2), {
      disrupted: 1,
      allowedFor: () => 1,
      leftovers: new Set(['uid-n-0']),
    });
    expect([ask('n-0'), ask('n-1')]).toEqual(['start', 'wait']);
  });
});

describe('nodes that are only not ready', () => {
  const input = { disrupted: 3, onlyNotReady: new Set(['n-0', 'n-1', 'n-2']), allowedFor: () => 2 };

  it('do not count against their own repair', () => {
    const { ask } = permitsFor(machinesOf('n', 4), input);
    expect(['n-0', 'n-1', 'n-2'].map((name) => ask(name, 'Unhealthy'))).toEqual(['start', 'start', 'wait']);
  });

  it('count against everything else', () => {
    expect(permitsFor(machinesOf('n', 4), input).ask('n-3')).toBe('wait');
  });

  it('are not counted twice when they start', () => {
    const { ask } = permitsFor(machinesOf('n', 5), { ...input, allowedFor: () => 4 });
    expect([ask('n-0', 'Unhealthy'), ask('n-3'), ask('n-4')]).toEqual(['start', 'start', 'wait']);
  });
});

describe('the cluster-wide cap', () => {
  it('holds back beyond the budget, and that is told', () => {
    const { ask, permits } = permitsFor(machinesOf('n', 2), { cluster: { room: 1, movesControlPlane: false } });
    expect(ask('n-0')).toBe('start');
    expect(permits.isCapped).toBe(false);
    expect(ask('n-1')).toBe('wait');
    expect(permits.isCapped).toBe(true);
  });

  it('counts what this pool has disrupted, and does not keep anybody from taking up what counts already', () => {
    const cluster = { room: 1, movesControlPlane: false };
    const { ask } = permitsFor(machinesOf('n', 2), { cluster, disrupted: 1, leftovers: new Set(['uid-n-1']) });
    expect([ask('n-0'), ask('n-1')]).toEqual(['wait', 'start']);
  });

  it('is not to blame for who waits for the budget', () => {
    const { ask, permits } = permitsFor(machinesOf('n', 1), {
      allowedFor: () => 0,
      cluster: { room: -3, movesControlPlane: true },
    });
    expect(ask('n-0')).toBe('wait');
    expect(permits.isCapped).toBe(false);
  });
});

describe("nodes with Driftless' or Temporal's own pods", () => {
  const machines = [...machinesOf('n', 2, { pods: ours }), machineOf('other')];

  it('go one at a time, and nobody else waits for that', () => {
    const { ask, permits } = permitsFor(machines);
    expect([ask('n-0'), ask('n-1'), ask('other')]).toEqual(['start', 'wait', 'start']);
    expect(permits.isCapped).toBe(false);
  });

  it.each<[string, Machine]>([
    ['is in flight', machineOf('moving', { pods: ours })],
    ['is tainted', machineOf('tainted', { pods: ours, isTainted: true })],
  ])('wait while another one %s', (_, moving) => {
    const { ask } = permitsFor([...machines, moving], { inFlight: new Set(['moving']) });
    expect([ask('n-0'), ask('other')]).toEqual(['wait', 'start']);
  });

  it('wait while one moves in another pool, and that is told', () => {
    const { ask, permits } = permitsFor(machines, { cluster: { room: Infinity, movesControlPlane: true } });
    expect(ask('other')).toBe('start');
    expect(permits.isCapped).toBe(false);
    expect(ask('n-0')).toBe('wait');
    expect(permits.isCapped).toBe(true);
  });
});

describe('limits', () => {
  it('block, not delay, those for whose replacement there is no room; the budget is left to the others', () => {
    const machines = [...machinesOf('n', 3), machineOf('empty')];
    const { ask } = permitsFor(machines, { allowedFor: () => 2 }, { limits: { nodes: '5' } });
    expect([ask('n-0'), ask('n-1'), ask('empty'), ask('n-2')]).toEqual(['start', 'blocked', 'start', 'blocked']);
  });

  it('reserve nothing for who does not start', () => {
    let allowed = 0;
    const { ask } = permitsFor(machinesOf('n', 2), { allowedFor: () => allowed }, { limits: { nodes: '3' } });
    expect(ask('n-0')).toBe('wait');
    allowed = 5;
    expect(ask('n-1')).toBe('start');
  });
});
