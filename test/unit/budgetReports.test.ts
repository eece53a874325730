import { describe, expect, it } from '@jest/globals';

import { admit } from '../../karpenter/admission.js';
import type { Budget } from '../../karpenter/api.js';
import { budgetSchema } from '../../karpenter/api.js';
import { allowedDisruptions } from '../../karpenter/budget.js';
import { reportBudget } from '../../client/cli/budgetReport.js';
import { budgetErrorLine } from '../../karpenter/budgetErrorLine.js';
import { validateBudgets } from '../../karpenter/budgetValidation.js';
import { rolloutDetails } from '../../workflows/rolloutDetails.js';
import { reportAdmission } from '../../karpenter/admissionReport.js';
import type { Machine } from '../../karpenter/pool.js';
import { admissionInputOf, isTrueSince, machineOf, machinesOf, poolOf } from './poolFixture.js';
import { statusOf } from './rolloutFixture.js';

/** Public reports about budgets: docs/reports.md says which. */

const driftedSince = '2026-01-05T00:00:00Z';
const mondayNoon = '2026-01-05T12:00:00Z';

/** null: nothing bounds it. */
function allowedAt(budgets: readonly Budget[], nodes: number, reason: string, at: string): number | null {
  const { allowed, errors } = allowedDisruptions(budgets, nodes, reason, Date.parse(at));
  expect(errors).toEqual([]);
  return allowed;
}

function startedAt(
  machines: readonly Machine[],
  budgets: readonly Budget[],
  at = mondayNoon,
  inFlight: readonly string[] = [],
) {
  const input = admissionInputOf(Date.parse(at), { inFlight: new Set(inFlight) });
  return admit(poolOf(machines, { budgets }), input);
}

function namesOf(candidates: readonly { readonly nodeClaim: string }[]): string[] {
  return candidates.map(({ nodeClaim }) => nodeClaim);
}

describe('windows of budgets', () => {
  it('r001: a day range that cannot be read closes its own pool, and says which text of which budget of which pool', () => {
    const machines = machinesOf('n', 20, { driftedSince });
    const budgets: Budget[] = [
      { nodes: '10%' },
      { nodes: '0', schedule: '0 16 * * mon-fri', duration: '16h' },
      { nodes: '0', schedule: '0 0 * * sat-sun', duration: '24h' },
    ];
    const { start, closed, allowances, budgetErrors } = startedAt(machines, budgets);
    expect(start).toEqual([]);
    expect(allowances).toEqual([{ reason: 'Drifted', allowed: 0, bindingBudget: 2 }]);
    expect(budgetErrors).toHaveLength(1);
    expect(closed).toMatch(
      /^NodePool general-purpose: spec\.disruption\.budgets\[2\]\.schedule "0 0 \* \* sat-sun": \S.+/,
    );
    expect(startedAt(machines, budgets.slice(0, 2)).start).toHaveLength(2);
  });

  it('r003: outside its window a budget says nothing: neither more nor less', () => {
    const budgets: Budget[] = [
      { nodes: '10%', schedule: '0 8 * * mon-fri', duration: '8h', reasons: ['Empty', 'Underutilized'] },
      { nodes: '0', reasons: ['Drifted'] },
    ];
    for (const at of ['2026-01-05T20:00:00Z', '2026-01-11T12:00:00Z']) {
      expect(allowedAt(budgets, 20, 'Empty', at)).toBeNull();
      expect(allowedAt(budgets, 20, 'Underutilized', at)).toBeNull();
      expect(allowedAt(budgets, 20, 'Drifted', at)).toBe(0);
    }
    expect(allowedAt(budgets, 20, 'Empty', '2026-01-05T08:00:00Z')).toBe(2);
    expect(allowedAt(budgets, 20, 'Drifted', '2026-01-05T08:00:00Z')).toBe(0);
  });

  it('r004: a window on Mondays holds nobody back on Thursdays', () => {
    const budgets: Budget[] = [
      { nodes: '35%', schedule: '0 1 * * 1', duration: '4h' },
      { nodes: '35%', reasons: ['Empty'] },
    ];
    const thursday = '2026-01-08T14:50:00Z';
    const monday = '2026-01-05T02:00:00Z';
    expect([allowedAt(budgets, 20, 'Drifted', thursday), allowedAt(budgets, 20, 'Drifted', monday)]).toEqual([null, 7]);
    expect([allowedAt(budgets, 20, 'Empty', thursday), allowedAt(budgets, 20, 'Empty', monday)]).toEqual([7, 7]);
  });

  it('r006: hour 12 is noon in UTC', () => {
    const budgets: Budget[] = [
      { nodes: '10%', reasons: ['Underutilized', 'Empty'] },
      { nodes: '90%', schedule: '0 12 * * *', duration: '3h', reasons: ['Drifted'] },
    ];
    const at = ['2026-01-05T00:30:00Z', '2026-01-05T12:00:00Z', '2026-01-05T15:00:00Z', '2026-01-05T19:48:11Z'];
    expect(at.map((instant) => allowedAt(budgets, 10, 'Drifted', instant))).toEqual([null, 9, null, null]);
  });

  it('r008: two windows for different reasons, one of them past midnight', () => {
    const budgets: Budget[] = [
      { nodes: '20%', schedule: '0 6 * * *', duration: '20h', reasons: ['Empty'] },
      { nodes: '20%', schedule: '0 2 * * *', duration: '4h', reasons: ['Underutilized', 'Empty'] },
    ];
    const noon = '2026-01-05T12:00:00Z';
    const night = '2026-01-05T03:00:00Z';
    expect(allowedAt(budgets, 10, 'Underutilized', noon)).toBeNull();
    expect(allowedAt(budgets, 10, 'Underutilized', night)).toBe(2);
    expect(allowedAt(budgets, 10, 'Drifted', noon)).toBeNull();
    expect(allowedAt(budgets, 10, 'Drifted', night)).toBeNull();
    const beforeTwo = allowedDisruptions(budgets, 10, 'Empty', Date.parse('2026-01-05T01:59:59Z'));
    expect(beforeTwo).toMatchObject({
      allowed: 2,
      activeBudgets: [0],
      nextChangeMs: Date.parse('2026-01-05T02:00:00Z'),
    });
    expect(allowedDisruptions(budgets, 10, 'Empty', Date.parse('2026-01-05T02:00:00Z')).activeBudgets).toEqual([1]);
  });

  it('r009: the minimum is taken for each reason', () => {
    const budgets: Budget[] = [
      { nodes: '2' },
      { nodes: '1', schedule: '0 7 * * *', duration: '20h', reasons: ['Empty', 'Drifted'] },
      { nodes: '0', schedule: '0 7 * * *', duration: '20h', reasons: ['Underutilized'] },
    ];
    const allAt = (at: string) =>
      ['Drifted', 'Empty', 'Underutilized'].map((reason) => allowedAt(budgets, 12, reason, at));
    expect(allAt('2026-01-05T02:59:59Z')).toEqual([1, 1, 0]);
    expect(allAt('2026-01-05T03:00:00Z')).toEqual([2, 2, 2]);
  });

  it('r012: a window is half-open, so that one minute a day is one minute', () => {
    const budgets: Budget[] = [{ nodes: '10%' }, { nodes: '1' }, { nodes: '0', schedule: '@daily', duration: '1439m' }];
    const at = ['2026-01-05T23:58:59Z', '2026-01-05T23:59:00Z', '2026-01-05T23:59:59Z', '2026-01-06T00:00:00Z'];
    expect(at.map((instant) => allowedAt(budgets, 20, 'Drifted', instant))).toEqual([0, 1, 1, 0]);
  });

  it('r022: windows are in UTC on both sides of a change of the clocks', () => {
    const budgets: Budget[] = [{ nodes: '0', schedule: '0 8 * * mon-fri', duration: '10h' }];
    // 2026-03-29 is the last Sunday in March.
    for (const day of ['2026-03-27', '2026-03-30']) {
      expect(allowedAt(budgets, 10, 'Drifted', `${day}T07:59:59Z`)).toBeNull();
      expect(allowedAt(budgets, 10, 'Drifted', `${day}T08:00:00Z`)).toBe(0);
      expect(allowedAt(budgets, 10, 'Drifted', `${day}T17:59:59Z`)).toBe(0);
      expect(allowedAt(budgets, 10, 'Drifted', `${day}T18:00:00Z`)).toBeNull();
    }
  });

  it('r022: a field that Driftless does not know, such as `timeZone`, closes the pool and is named', () => {
    const budget = budgetSchema.parse({
      nodes: '0',
      schedule: '0 8 * * mon-fri',
      duration: '10h',
      timeZone: 'Europe/Berlin',
      reasons: ['Empty'],
    });
    const { start, waiting, closed } = startedAt(machinesOf('n', 3, { driftedSince }), [{ nodes: '2' }, budget]);
    expect(start).toEqual([]);
    expect(waiting).toHaveLength(3);
    expect(closed).toBe(
      'NodePool general-purpose: spec.disruption.budgets[1].timeZone "Europe/Berlin": is a field that Driftless does not know: take it off, or use a version that knows it',
    );
    const question = {
      nodePool: 'general-purpose',
      budgets: [budget],
      nodes: 3,
      disrupted: 0,
      atMs: Date.parse(mondayNoon),
    };
    expect(reportBudget(question).errors.map((error) => budgetErrorLine('general-purpose', error))).toEqual([
      expect.stringMatching(/budgets\[0\]\.timeZone "Europe\/Berlin"/),
    ]);
    expect(budgetSchema.parse({ nodes: 5 })).toEqual({ nodes: '5' });
    expect(budgetSchema.parse({ nodes: 5, offset: { hours: 1 } }).unknownFields).toEqual({ offset: { hours: 1 } });
  });

  it('r024: a duration with seconds; a reason that nobody knows matches no question', () => {
    const budgets: Budget[] = [
      { nodes: '10%', reasons: ['Drifted'] },
      { nodes: '0', schedule: '0 12 * * mon-fri', duration: '8h30m0s', reasons: ['Drifted'] },
      { nodes: '100%', reasons: ['Empty'] },
    ];
    const at = ['2026-01-05T11:59:59Z', '2026-01-05T12:00:00Z', '2026-01-05T20:29:59Z', '2026-01-05T20:30:00Z'];
    expect(at.map((instant) => allowedAt(budgets, 20, 'Drifted', instant))).toEqual([2, 0, 0, 2]);
    const expire: Budget[] = [{ nodes: '0', reasons: ['Expire'] }];
    expect(['Drifted', 'Empty', 'Expired'].map((reason) => allowedAt(expire, 20, reason, mondayNoon))).toEqual([
      null,
      null,
      null,
    ]);
    expect(validateBudgets(expire)).toMatchObject([{ index: 0, field: 'reasons', text: 'Expire' }]);
    expect(validateBudgets(budgets)).toEqual([]);
  });

  it('r027: when a window opens as many start as the budget allows, and two looks at one instant are one', () => {
    const machines = machinesOf('n', 200, { driftedSince });
    const budgets: Budget[] = [{ nodes: '5%' }, { nodes: '0', schedule: '0 9 * * *', duration: '8h' }];
    const before = startedAt(machines, budgets, '2026-01-05T16:59:59.999Z');
    expect(before).toMatchObject({ start: [], nextLookMs: Date.parse('2026-01-05T17:00:00Z') });
    const { start } = startedAt(machines, budgets, '2026-01-05T17:00:00Z');
    expect(start).toHaveLength(10);
    expect(startedAt(machines, budgets, '2026-01-05T17:00:00Z', namesOf(start)).start).toEqual([]);
  });

  it('r029: windows that meet leave no gap', () => {
    const weekly: Budget[] = [
      { nodes: '100%', schedule: '0 0 * * 0', duration: '24h' },
      { nodes: '0', schedule: '0 0 * * 1', duration: '144h' },
    ];
    const saturday = '2026-01-10T23:59:59Z';
    const monday = '2026-01-12T00:00:00Z';
    for (const at of ['2026-01-11T00:00:00Z', '2026-01-11T12:00:00Z', '2026-01-11T23:59:59Z']) {
      expect(allowedAt(weekly, 10, 'Drifted', at)).toBe(10);
    }
    for (const at of [saturday, monday, '2026-01-14T12:00:00Z']) expect(allowedAt(weekly, 10, 'Drifted', at)).toBe(0);
    const hourly: Budget[] = [{ nodes: '1', schedule: '@hourly', duration: '1h', reasons: ['Drifted'] }];
    const startMs = Date.parse('2026-01-05T00:00:00Z');
    for (const minutes of [0, 30, 59, 60, 61, 119, 120, 1439, 1440]) {
      for (const offsetMs of [0, 59_999]) {
        expect(allowedDisruptions(hourly, 10, 'Drifted', startMs + minutes * 60_000 + offsetMs).allowed).toBe(1);
      }
    }
  });
});

describe('reasons of budgets', () => {
  it('r007: a budget holds the reasons that it names; the report names reason and budget', () => {
    const budgets: Budget[] = [
      { nodes: '0', schedule: '30 2 * * *', duration: '12h', reasons: ['Drifted', 'Underutilized'] },
    ];
    const machines = [machineOf('drifted', { driftedSince }), machineOf('empty', { trueConditions: ['Empty'] })];
    const admission = startedAt(machines, budgets, '2026-01-05T06:00:00Z');
    expect(admission.start).toMatchObject([{ nodeClaim: 'empty', reason: 'Empty' }]);
    expect(admission.waiting).toMatchObject([{ nodeClaim: 'drifted', reason: 'Drifted' }]);
    expect(admission.allowances).toEqual([
      { reason: 'Drifted', allowed: 0, bindingBudget: 0 },
      { reason: 'Empty', allowed: null, bindingBudget: null },
    ]);
    expect(rolloutDetails(statusOf({ admission: reportAdmission(admission, new Set()) }))).toContain(
      'budget Drifted 0 (#0), Empty unbounded.',
    );
    // A budget for all reasons holds an expiry, too: Driftless replaces ahead of Karpenter's own, which obeys none.
    expect(allowedAt(budgets, 10, 'Expired', '2026-01-05T06:00:00Z')).toBeNull();
    expect(allowedAt([{ nodes: '3' }], 10, 'Expired', mondayNoon)).toBe(3);
  });

  it('r023: a budget for all reasons stacks with those for some', () => {
    const budgets: Budget[] = [
      { nodes: '5%' },
      { nodes: '10', reasons: ['Empty', 'Underutilized'] },
      { nodes: '0', reasons: ['Drifted'] },
    ];
    const allowed = ['Drifted', 'Empty', 'Underutilized'].map((reason) => allowedAt(budgets, 100, reason, mondayNoon));
    expect(allowed).toEqual([0, 5, 5]);
  });

  it('r031: what is disrupted counts for every reason: empty nodes that go hold up a drift', () => {
    const machines = [
      ...machinesOf('drifted', 3, { driftedSince }),
      ...machinesOf('empty', 3, { conditions: [isTrueSince('Empty', driftedSince)] }),
    ];
    const budgets: Budget[] = [
      { nodes: '1', reasons: ['Drifted'] },
      { nodes: '10', reasons: ['Empty'] },
    ];
    const startOf = (all: readonly Machine[], inFlight: readonly string[]): string[] =>
      namesOf(startedAt(all, budgets, mondayNoon, inFlight).start);
    const empties = ['empty-0', 'empty-1', 'empty-2'];
    expect(startOf(machines.slice(0, 3), [])).toEqual(['drifted-0']);
    expect(startOf(machines, ['drifted-0'])).toEqual(empties);
    expect(startOf(machines, empties)).toEqual([]);
    expect(startOf(machines.slice(0, 3), ['drifted-0'])).toEqual([]);
  });
});

describe('numbers of budgets', () => {
  it('r014: all 38 start in one look where the budget is 100%', () => {
    expect(startedAt(machinesOf('n', 38, { driftedSince }), [{ nodes: '100%' }]).start).toHaveLength(38);
  });

  it('r015: replacements that are still starting do not count as nodes', () => {
    const startedOf = (nodes: number, starting: number): number =>
      startedAt(
        [
          ...machinesOf('n', nodes, { driftedSince }),
          ...machinesOf('new', starting, { isInitialized: false, isReady: false, replaces: 'uid-gone' }),
        ],
        [{ nodes: '10%' }],
      ).start.length;
    expect(startedOf(10, 1)).toBe(1);
    expect(startedOf(99, 12)).toBe(10);
  });

  it('r016: a node that is not Ready uses the budget up', () => {
    const machines = [machineOf('down', { isReady: false, driftedSince }), ...machinesOf('n', 9, { driftedSince })];
    const { start, allowances, disrupted } = startedAt(machines, [{ nodes: '10%' }]);
    expect(allowances).toMatchObject([{ allowed: 1 }]);
    expect(disrupted).toEqual(['down']);
    expect(start).toEqual([]);
  });

  it('r018: a pool without nodes is not blocked by a percentage of nothing', () => {
    const admission = startedAt([], [{ nodes: '10%' }]);
    expect(admission).toMatchObject({
      allowances: [{ reason: 'Drifted', allowed: 0 }],
      closed: undefined,
      budgetErrors: [],
      waiting: [],
      blocked: [],
      nextLookMs: null,
    });
    const status = statusOf({ admission: reportAdmission(admission, new Set()) });
    expect(rolloutDetails(status).split('\n')[0]).toBe('**Quiet**.');
  });

  it('r020: a plain number is the limit itself', () => {
    const budgets: Budget[] = [{ nodes: '20%' }, { nodes: '5' }];
    const allowed = [20, 24, 25, 26, 100].map((nodes) => allowedAt(budgets, nodes, 'Drifted', mondayNoon));
    expect(allowed).toEqual([4, 5, 5, 5, 5]);
  });

  it('r026: nodes that others delete count, and stop nobody who is under way', () => {
    const machines = [
      ...machinesOf('under-way', 5, { driftedSince }),
      ...machinesOf('expired', 3, { isDeleted: true }),
      ...machinesOf('n', 12, { driftedSince }),
    ];
    const underWay = Array.from({ length: 5 }, (_, index) => `under-way-${index}`);
    const budgets: Budget[] = [{ nodes: '5' }];
    const admission = startedAt(machines, budgets, mondayNoon, underWay);
    expect(admission.disrupted).toHaveLength(8);
    expect(admission).toMatchObject({ start: [], waiting: { length: 12 } });
    // Three have ended, and still nobody starts: three others go.
    const left = machines.filter(({ nodeClaim }) => !underWay.slice(0, 3).includes(nodeClaim.metadata.name));
    expect(startedAt(left, budgets, mondayNoon, underWay.slice(3)).start).toEqual([]);
    const one = left.filter(({ nodeClaim }) => nodeClaim.metadata.name !== 'expired-0');
    expect(startedAt(one, budgets, mondayNoon, underWay.slice(3)).start).toHaveLength(1);
  });

  it('r028: of five that drift in the same second one starts', () => {
    const machines = machinesOf('n', 5, { driftedSince });
    const { start, waiting } = startedAt(machines, [{ nodes: '10%' }]);
    expect(namesOf(start)).toEqual(['n-0']);
    expect(waiting).toHaveLength(4);
    const tainted = machines.map((machine, index) =>
      index === 0 ? machineOf('n-0', { driftedSince, isTainted: true, workflow: 'replace/c/n-0/uid-n-0' }) : machine,
    );
    expect(startedAt(tainted, [{ nodes: '10%' }], mondayNoon, ['n-0']).start).toEqual([]);
  });
});
