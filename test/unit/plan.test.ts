import { describe, expect, it } from '@jest/globals';

import type { Budget } from '../../karpenter/api.js';
import { unboundedCluster } from '../../karpenter/clusterView.js';
import type { Plan, PlanQuestion } from '../../karpenter/plan.js';
import { planPool } from '../../karpenter/plan.js';
import type { Machine, Pool } from '../../karpenter/pool.js';
import type { NodePoolShape } from './poolFixture.js';
import { easyRules, isTrueSince, machineOf, machinesOf, poolOf } from './poolFixture.js';
import { workloadPodOf } from './workloadPod.js';

const driftedSince = '2026-01-05T11:00:00Z';
const offering = { instanceType: 'Standard_D2as_v5', zone: 'westus2-1', capacityType: 'on-demand' };
const pods = [workloadPodOf('web')];
const capacity = { cpu: '2' };
const busy = { driftedSince, offering, capacity, pods };
const atMs = Date.parse('2026-01-05T12:00:00Z');
const minuteMs = 60_000;
/** What is assumed where nothing was seen. */
const initializeMs = 3 * minuteMs;
const drainMs = minuteMs;
const deleteMs = minuteMs;

function planOf(machines: readonly Machine[], nodePool: NodePoolShape, question: Partial<PlanQuestion> = {}): Plan {
  return planPool(poolOf(machines, nodePool), { atMs, rules: easyRules, cluster: unboundedCluster, ...question });
}

/** The names in each wave, and the minutes after the beginning at which it starts. */
function wavesOf({ waves }: Plan): readonly (readonly [minutes: number, names: string])[] {
  return waves.map(({ startsMs, nodes }) => [
    (startsMs - atMs) / minuteMs,
    nodes.map(({ nodeClaim }) => nodeClaim).join(' '),
  ]);
}

describe('a plan', () => {
  it('is two waves of five for the reported case: ten drifted, budget 5', () => {
    const plan = planOf(machinesOf('n', 10, busy), { budgets: [{ nodes: '5' }] });
    expect(wavesOf(plan)).toEqual([
      [0, 'n-0 n-1 n-2 n-3 n-4'],
      [4, 'n-5 n-6 n-7 n-8 n-9'],
    ]);
    expect(plan.waves[0]).toMatchObject({
      startsMs: atMs,
      permitsFreeMs: atMs + initializeMs + drainMs,
      endsMs: atMs + initializeMs + drainMs + deleteMs,
    });
    expect(plan.waves[0]?.nodes[0]).toMatchObject({ order: 1, before: offering, after: offering, vcpus: 2 });
    expect(plan).toMatchObject({
      unplanned: null,
      blocked: [],
      endsMs: atMs + 2 * (initializeMs + drainMs) + deleteMs,
      // While the first five are being deleted the next five are created.
      surge: { vcpus: 20, atMs: atMs + 4 * minuteMs, unknown: 0 },
    });
  });

  it('lets empty nodes go first, without a replacement and without surge', () => {
    const plan = planOf([machineOf('a', busy), machineOf('b', { ...busy, pods: [] })], { budgets: [{ nodes: '1' }] });
    expect(wavesOf(plan)).toEqual([
      [0, 'b'],
      [1, 'a'],
    ]);
    expect(plan.waves[0]?.nodes[0]).toMatchObject({ isEmpty: true, after: null, vcpus: 0, initializedMs: null });
    expect(plan.surge.vcpus).toBe(2);
  });

  const closedFromEight: Budget = { nodes: '0', schedule: '0 8 * * mon-fri', duration: '9h' };

  it('starts when a window opens, and says so to the second', () => {
    const plan = planOf(machinesOf('n', 2, busy), { budgets: [{ nodes: '1' }, closedFromEight] });
    expect(wavesOf(plan)).toEqual([
      [5 * 60, 'n-0'],
      [5 * 60 + 4, 'n-1'],
    ]);
  });

  it('stops where a window closes in between, and goes on after it', () => {
    const lunch: Budget = { nodes: '0', schedule: '2 12 * * *', duration: '1h' };
    const plan = planOf(machinesOf('n', 2, busy), { budgets: [{ nodes: '1' }, lunch] });
    expect(wavesOf(plan)).toEqual([
      [0, 'n-0'],
      [62, 'n-1'],
    ]);
  });

  it('counts an Initialized replacement where the budget is a percentage, as the rollout does', () => {
    const plan = planOf(machinesOf('n', 10, busy), { budgets: [{ nodes: '10%' }] });
    // Eleven nodes for the minute of the drain: 10% of them, rounded up, are two.
    expect(wavesOf(plan).slice(0, 2)).toEqual([
      [0, 'n-0'],
      [3, 'n-1'],
    ]);
  });

  it('says that an end cannot be known where the budget allows nothing for ever', () => {
    const hourly: Budget = { nodes: '5', schedule: '@hourly', duration: '30m' };
    const plan = planOf(machinesOf('n', 3, busy), { budgets: [{ nodes: '0' }, hourly] });
    expect(plan).toMatchObject({ waves: [], endsMs: null, plannedEndsMs: null });
    expect(plan.unplanned).toMatchObject({
      candidates: { length: 3 },
      waitsFor: { kind: 'budget', index: 0, allowed: 0 },
      holders: [],
    });
  });

  it('names who holds the permits for nobody knows how long', () => {
    const plan = planOf([machineOf('down', { isReady: false }), machineOf('n', busy)], { budgets: [{ nodes: '1' }] });
    expect(plan.unplanned).toMatchObject({
      candidates: [{ nodeClaim: 'n' }],
      holders: [{ nodeClaim: 'down', why: 'its Node is not Ready' }],
    });
  });

  it('leaves a closed pool alone, and says who would ask', () => {
    const plan = planOf(machinesOf('n', 3, busy), { annotations: {} });
    expect(plan).toMatchObject({ waves: [], endsMs: null, unplanned: { candidates: { length: 3 }, waitsFor: null } });
    expect(plan.admission.closed).toMatch(/not annotated/);
  });

  it('says who is blocked, and plans whom time frees', () => {
    const startedAt = '2026-01-05T11:50:00Z';
    const protectedPod = workloadPodOf('job', { annotations: { 'karpenter.sh/do-not-disrupt': '1h' }, startedAt });
    const machines = [
      machineOf('for-good', { ...busy, doNotDisrupt: 'true' }),
      machineOf('for-now', { ...busy, pods: [protectedPod] }),
      machineOf('free', busy),
    ];
    const plan = planOf(machines, { budgets: [{ nodes: '5' }] });
    expect(plan.blocked.map(({ nodeClaim, untilMs }) => [nodeClaim, untilMs])).toEqual([
      ['for-good', null],
      ['for-now', atMs + 50 * minuteMs],
    ]);
    expect(wavesOf(plan)).toEqual([
      [0, 'free'],
      [50, 'for-now'],
    ]);
    expect(plan).toMatchObject({ endsMs: null, plannedEndsMs: atMs + 55 * minuteMs });
  });

  it('starts as many as the limits have room for, and the next when an old instance is gone', () => {
    const plan = planOf(machinesOf('n', 2, busy), { budgets: [{ nodes: '2' }], limits: { cpu: '6' } });
    expect(wavesOf(plan)).toEqual([
      [0, 'n-0'],
      [5, 'n-1'],
    ]);
    expect(plan.blocked).toMatchObject([{ nodeClaim: 'n-1', why: expect.stringMatching(/spec\.limits\.cpu is 6/) }]);
    expect(plan.endsMs).toBe(atMs + 10 * minuteMs);
  });

  it('takes what is under way into account, and gives what is overdue its usual time once more', () => {
    const workflow = 'replace/cluster/x/uid-x';
    const machines = [
      machineOf('launching', { ...busy, isTainted: true, workflow }),
      machineOf('new-1', { replaces: 'uid-launching', hasNode: false, createdAt: '2026-01-05T11:59:00Z', capacity }),
      machineOf('overdue', { ...busy, isTainted: true, workflow }),
      machineOf('new-2', { replaces: 'uid-overdue', hasNode: false, createdAt: '2026-01-05T11:00:00Z', capacity }),
      ...machinesOf('n', 2, busy),
    ];
    const plan = planOf(machines, { budgets: [{ nodes: '2' }] });
    expect(plan.underWay).toMatchObject([
      { nodeClaim: 'launching', phase: 'Launch', replacement: 'new-1', terminatingMs: atMs + 3 * minuteMs },
      { nodeClaim: 'overdue', phase: 'Launch', replacement: 'new-2', terminatingMs: atMs + 4 * minuteMs },
    ]);
    expect(wavesOf(plan)).toEqual([
      [3, 'n-0'],
      [4, 'n-1'],
    ]);
  });

  it('reckons with the durations that the pool has seen, the median of its last twenty', () => {
    const seen = Array.from({ length: 25 }, (_, index) => {
      const createdMs = atMs - (index + 1) * 3_600_000;
      // The five oldest took ten minutes.
      const tookMs = index < 20 ? 90_000 : 600_000;
      return machineOf(`n-${index}`, {
        ...busy,
        createdAt: new Date(createdMs).toISOString(),
        conditions: [isTrueSince('Initialized', new Date(createdMs + tookMs).toISOString())],
      });
    });
    const plan = planOf(seen, { budgets: [{ nodes: '100%' }] });
    expect(plan.durations).toEqual({
      initialize: { durationMs: 90_000, seen: 20 },
      drain: { durationMs: drainMs, seen: 0 },
      delete: { durationMs: deleteMs, seen: 0 },
    });
    expect(plan.endsMs).toBe(atMs + 90_000 + drainMs + deleteMs);
  });

  it('replaces each of a thousand nodes once, fifty at a time', () => {
    const plan = planOf(machinesOf('n', 1000, busy), { budgets: [{ nodes: '50' }] });
    const names = plan.waves.flatMap(({ nodes }) => nodes.map(({ nodeClaim }) => nodeClaim));
    expect(new Set(names).size).toBe(1000);
    expect(plan.waves.map(({ nodes }) => nodes.length)).toEqual(Array.from({ length: 20 }, () => 50));
  });

  it('leaves the pool that it was asked about as it is', () => {
    const pool: Pool = poolOf(machinesOf('n', 3, busy), { budgets: [{ nodes: '1' }] });
    const before = structuredClone(pool);
    planPool(pool, { atMs, rules: easyRules, cluster: unboundedCluster });
    expect(pool).toEqual(before);
  });
});
