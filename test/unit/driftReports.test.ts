import { describe, expect, it } from '@jest/globals';

import type { Condition, NodeClass } from '../../karpenter/api.js';
import { admit } from '../../karpenter/admission.js';
import { reportAdmission } from '../../karpenter/admissionReport.js';
import { rolloutDetails } from '../../workflows/rolloutDetails.js';
import { podOf, podStartedAt } from './podFixture.js';
import type { MachineShape, NodePoolShape } from './poolFixture.js';
import { admissionInputOf, isTrueSince, machineOf, machinesOf, poolOf, readyNodeClass } from './poolFixture.js';
import { statusOf } from './rolloutFixture.js';

/** Public reports about drift, static pools and limits: docs/reports.md says which. */

const driftedSince = '2026-01-05T12:00:00Z';
const atMs = Date.parse('2026-01-05T12:30:00Z');
const wide: NodePoolShape = { budgets: [{ nodes: '100%' }] };
const notReady: Condition = { type: 'Ready', status: 'False', reason: 'SubnetNotFound', message: 'no such subnet' };

function namesOf(candidates: readonly { readonly nodeClaim: string }[]): string[] {
  return candidates.map(({ nodeClaim }) => nodeClaim);
}

describe('drift', () => {
  it('r036: a condition that has cleared again asks for nothing', () => {
    const cleared = {
      type: 'Drifted',
      status: 'False',
      reason: 'NotDrifted',
      lastTransitionTime: driftedSince,
    } as const;
    const admission = admit(poolOf([machineOf('a', { conditions: [cleared] })], wide), admissionInputOf(atMs));
    expect(admission).toMatchObject({ start: [], waiting: [], blocked: [] });
  });

  it('r037: replacements that drift at once are slowed, and told as a loop with their reason', () => {
    const rules = { ...admissionInputOf(atMs).rules, flapMs: 3_600_000 };
    const createdAt = '2026-01-05T11:57:00Z';
    const pool = poolOf(
      [
        ...machinesOf('new', 3, { replaces: 'uid-gone', createdAt, driftedSince }),
        machineOf('old', { driftedSince, createdAt: '2025-01-01T00:00:00Z' }),
      ],
      wide,
    );
    const admission = admit(pool, admissionInputOf(atMs, { rules }));
    const loopEndsMs = Date.parse(createdAt) + 3_600_000;
    expect(namesOf(admission.start)).toEqual(['old']);
    expect(admission.blocked).toHaveLength(3);
    expect(admission.blocked[0]).toMatchObject({
      reason: 'Drifted',
      reasonDetail: 'ImageDrift',
      why: 'it is a replacement itself and was Drifted (ImageDrift) 3 min after its creation: this may be a loop',
      untilMs: loopEndsMs,
    });
    expect(admission.nextLookMs).toBe(loopEndsMs);
    expect(admit(pool, admissionInputOf(loopEndsMs, { rules })).start).toHaveLength(4);
  });

  it.each<[string, NodePoolShape, NodeClass]>([
    ['NodePool', { ...wide, conditions: [notReady] }, readyNodeClass],
    ['AKSNodeClass', wide, { ...readyNodeClass, status: { conditions: [notReady] } }],
  ])(
    'r040: nobody starts or is marked for it while the %s is not Ready; the reason is told once',
    (kind, nodePool, nodeClass) => {
      const pool = { ...poolOf(machinesOf('n', 5, { driftedSince }), nodePool), nodeClass };
      const admission = admit(pool, admissionInputOf(atMs));
      expect(admission).toMatchObject({ start: [], waiting: { length: 5 }, blocked: [], markChanges: [] });
      const details = rolloutDetails(statusOf({ admission: reportAdmission(admission, new Set()) }));
      expect(details).toMatch(
        new RegExp(`^\\*\\*Closed\\*\\*: ${kind} .* is not Ready: SubnetNotFound: no such subnet\\.`),
      );
      expect(details.match(/is not Ready/g)).toHaveLength(1);
      expect(admit(poolOf(machinesOf('n', 5, { driftedSince }), wide), admissionInputOf(atMs)).start).toHaveLength(5);
    },
  );

  const age = (minutes: number): number => Date.parse(podStartedAt) + minutes * 60_000;
  it.each<[string, MachineShape, number, boolean]>([
    ['on a Node: true', { doNotDisrupt: 'true' }, atMs, true],
    ['on a Node: false', { doNotDisrupt: 'false' }, atMs, false],
    ['on a Node: 4h', { doNotDisrupt: '4h' }, atMs, false],
    ['on a pod: true', { pods: [podOf('p', { doNotDisrupt: 'true' })] }, atMs, true],
    ['on a pod: false', { pods: [podOf('p', { doNotDisrupt: 'false' })] }, atMs, false],
    ['on a pod: 4h, before that age', { pods: [podOf('p', { doNotDisrupt: '4h' })] }, age(239), true],
    ['on a pod: 4h, at that age', { pods: [podOf('p', { doNotDisrupt: '4h' })] }, age(240), false],
    ['on a pod: nonsense', { pods: [podOf('p', { doNotDisrupt: 'nonsense' })] }, atMs, false],
  ])('r041: do-not-disrupt %s', (_, shape, instantMs, isBlocked) => {
    const admission = admit(poolOf([machineOf('a', { driftedSince, ...shape })], wide), admissionInputOf(instantMs));
    expect({ start: admission.start.length, blocked: admission.blocked.length }).toEqual(
      isBlocked ? { start: 0, blocked: 1 } : { start: 1, blocked: 0 },
    );
  });

  it('r045: one look at each of ten pools of 400 starts all that their budgets allow', () => {
    const looks = Array.from({ length: 10 }, (_, pool) =>
      admit(
        poolOf(machinesOf(`pool-${pool}`, 400, { driftedSince }), { budgets: [{ nodes: '10%' }] }),
        admissionInputOf(atMs),
      ),
    );
    expect(looks.map(({ start }) => start.length)).toEqual(Array.from({ length: 10 }, () => 40));
    // What is kept of a look does not grow with the pool.
    const report = reportAdmission(looks[0] ?? admit(poolOf([]), admissionInputOf(atMs)), new Set());
    expect(report.waiting).toMatchObject({ count: 360, first: { length: 50 } });
  });

  it('r047: what made a node drift is carried along, and the budget holds whatever it was', () => {
    const detail = { ...isTrueSince('Drifted', driftedSince), reason: 'NodePoolDrifted' };
    const pool = poolOf(machinesOf('n', 10, { conditions: [detail] }), { budgets: [{ nodes: '2' }] });
    const { start, waiting } = admit(pool, admissionInputOf(atMs));
    expect([start.length, waiting.length]).toEqual([2, 8]);
    expect(new Set([...start, ...waiting].map(({ reason, reasonDetail }) => `${reason} ${reasonDetail}`))).toEqual(
      new Set(['Drifted NodePoolDrifted']),
    );
    // To hold all of it back is a budget for the reason.
    const held = poolOf(machinesOf('n', 10, { conditions: [detail] }), {
      budgets: [{ nodes: '0', reasons: ['Drifted'] }],
    });
    expect(admit(held, admissionInputOf(atMs)).start).toEqual([]);
  });
});

describe('static NodePools', () => {
  it('r054: a replacement is no surplus, whatever a late event says of the old NodeClaim', () => {
    const machines = [
      ...machinesOf('n', 100, { driftedSince }),
      machineOf('new', { replaces: 'uid-n-0', trueConditions: ['Initialized'] }),
    ];
    const nodePool: NodePoolShape = { replicas: 100, budgets: [{ nodes: '2' }] };
    // The mark of the old one may be seen or not: what is in flight is known to the rollout.
    const admission = admit(poolOf(machines, nodePool), admissionInputOf(atMs, { inFlight: new Set(['n-0']) }));
    expect(admission).toMatchObject({ start: [{ nodeClaim: 'n-1' }], blocked: [] });
  });

  it('r055: one more than the replicas is not too many during the roll, and is after it', () => {
    const nodePool: NodePoolShape = { replicas: 3, ...wide };
    const during = poolOf(
      [
        machineOf('a', { driftedSince }),
        machineOf('b', { driftedSince }),
        machineOf('c'),
        machineOf('a-new', { replaces: 'uid-a' }),
      ],
      nodePool,
    );
    const inFlight = new Set(['a']);
    expect(admit(during, admissionInputOf(atMs, { inFlight }))).toMatchObject({
      start: [{ nodeClaim: 'b', isEmpty: false }],
      blocked: [],
    });
    const left = poolOf(
      [machineOf('b', { driftedSince }), machineOf('c'), machineOf('d'), machineOf('a-new', { replaces: 'uid-a' })],
      nodePool,
    );
    expect(admit(left, admissionInputOf(atMs))).toMatchObject({
      start: [],
      blocked: [{ nodeClaim: 'b', why: expect.stringMatching(/has 4 NodeClaims and replicas 3/) }],
    });
  });

  it('r056: without room for a surge nobody starts, and why is told; with room for one, one does', () => {
    const machines = machinesOf('n', 5, { driftedSince });
    const withLimit = (nodes: string) =>
      poolOf(machines, { replicas: 5, limits: { nodes }, budgets: [{ nodes: '20%' }] });
    const full = admit(withLimit('5'), admissionInputOf(atMs));
    expect(full).toMatchObject({ start: [], waiting: [], blocked: { length: 5 } });
    expect(new Set(full.blocked.map(({ why }) => why))).toEqual(
      new Set([
        "the NodePool's limits leave no room for a replacement: spec.limits.nodes is 5, 5 are used or promised, 1 more are needed",
      ]),
    );
    const details = rolloutDetails(statusOf({ admission: reportAdmission(full, new Set()) }));
    expect(details.split('\n')[0]).toBe('**Waiting** for what blocks the candidates.');
    expect(namesOf(admit(withLimit('6'), admissionInputOf(atMs)).start)).toEqual(['n-0']);
  });
});
