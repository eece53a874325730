import { describe, expect, it } from '@jest/globals';

import type { Budget } from '../../karpenter/api.js';
import { admit } from '../../karpenter/admission.js';
import type { BudgetError } from '../../karpenter/budget.js';
import { allowedDisruptions } from '../../karpenter/budget.js';
import { readBudgetCases } from './budgetCases.js';
import { admissionInputOf, machinesOf, poolOf } from './poolFixture.js';
import { Random } from './random.js';

const cases = readBudgetCases();
const casesRun = 181;
const disruptingCases = cases.filter(({ reason, disrupting }) => reason === 'Drifted' && disrupting !== undefined);
const disruptingCasesRun = 16;
const activeCases = cases.filter(({ active }) => active !== undefined);
const activeCasesRun = 26;
const atMs = Date.UTC(2026, 0, 5, 12);

describe(`the ${casesRun} cases of Karpenter's budgets`, () => {
  it('are all here', () => {
    expect(cases).toHaveLength(casesRun);
    expect(disruptingCases).toHaveLength(disruptingCasesRun);
    expect(activeCases).toHaveLength(activeCasesRun);
  });

  it.each(cases)('$name', ({ budgets, nodes, reason, now, allowed, error }) => {
    const allowance = allowedDisruptions(budgets, nodes, reason, now);
    expect({ allowed: allowance.allowed, isError: allowance.errors.length > 0 }).toEqual({ allowed, isError: error });
  });

  it.each(activeCases)('$name: is it active?', ({ budgets, nodes, reason, now, active }) => {
    expect(allowedDisruptions(budgets, nodes, reason, now).activeBudgets).toEqual(active === true ? [0] : []);
  });

  it.each(disruptingCases)(
    'permits are what is left after $disrupting disrupted: $name',
    ({ budgets, nodes, now, disrupting = 0, available = null }) => {
      // As many drifted nodes as could ever be asked for, of which some are disrupted already.
      const notReady = machinesOf('gone', Math.min(disrupting, nodes), { isReady: false });
      const drifted = machinesOf('drifted', nodes - notReady.length, { driftedSince: '2026-01-05T12:00:00Z' });
      const { start, waiting } = admit(poolOf([...notReady, ...drifted], { budgets }), admissionInputOf(now));
      expect(start).toHaveLength(Math.min(available ?? Infinity, drifted.length));
      expect(start.length + waiting.length).toBe(drifted.length);
    },
  );
});

describe('budgets', () => {
  it('that are not given are one of 10%', () => {
    expect(allowedDisruptions(undefined, 25, 'Drifted', atMs)).toEqual({
      allowed: 3,
      bindingBudget: 0,
      activeBudgets: [0],
      nextChangeMs: null,
      errors: [],
    });
  });

  it('bind by the smallest that matches the reason, the first of equals', () => {
    const budgets: Budget[] = [{ nodes: '5' }, { nodes: '20%' }, { nodes: '2', reasons: ['Drifted'] }, { nodes: '2' }];
    expect(allowedDisruptions(budgets, 100, 'Drifted', atMs)).toMatchObject({ allowed: 2, bindingBudget: 2 });
    expect(allowedDisruptions(budgets, 100, 'Empty', atMs)).toMatchObject({ allowed: 2, bindingBudget: 3 });
  });

  it.each([
    '',
    '-',
    '+%',
    '5.5',
    '1e2',
    '10 %',
    '%',
    '5%%',
    ' 5',
    'all',
    '9223372036854775808',
    '9223372036854775808%',
  ])('that cannot be read ("%s") close the pool for every reason and say which one', (nodes) => {
    const budgets: Budget[] = [{ nodes: '50' }, { nodes, reasons: ['Empty'] }];
    for (const reason of ['Drifted', 'Empty']) {
      const { allowed, bindingBudget, errors } = allowedDisruptions(budgets, 100, reason, atMs);
      expect({ allowed, bindingBudget }).toEqual({ allowed: 0, bindingBudget: 1 });
      expect(errors).toEqual([expect.objectContaining({ index: 1, field: 'nodes', text: nodes })]);
    }
  });

  it.each([
    ['2147483647', 2_147_483_647],
    ['2147483648', 0],
    ['4294967297', 1],
    ['9223372036854775807', 0],
    ['-4294967291', 5],
  ])('beyond 32 bits wrap as in Karpenter and are never below 0: "%s" is %d', (nodes, expected) => {
    expect(allowedDisruptions([{ nodes }], 10, 'Drifted', atMs).allowed).toBe(expected);
  });

  it.each([
    ['+5', 5],
    ['+50%', 50],
    ['-1', 0],
    ['-1%', 0],
    ['-0', 0],
  ])('with a sign, which the CRD refuses, are read as Karpenter reads them: "%s" is %d', (nodes, allowed) => {
    expect(allowedDisruptions([{ nodes }], 100, 'Drifted', atMs)).toMatchObject({ allowed, errors: [] });
  });

  it('agree with an independent computation for random inputs', () => {
    const random = new Random(20_260_105);
    const reasons = ['Drifted', 'Empty', 'Underutilized'];
    for (let round = 0; round < 1_000; round += 1) {
      const budgets = Array.from({ length: random.below(5) }, (): Budget => {
        const nodes = random.below(2) === 0 ? String(random.below(30)) : `${random.below(101)}%`;
        return random.below(3) === 0 ? { nodes, reasons: reasons.filter(() => random.below(2) === 0) } : { nodes };
      });
      const nodes = random.below(1_000);
      for (const reason of reasons) {
        const { allowed } = allowedDisruptions(budgets, nodes, reason, atMs);
        expect({ budgets, nodes, reason, allowed }).toEqual({
          budgets,
          nodes,
          reason,
          allowed: countedAllowance(budgets, nodes, reason),
        });
      }
    }
  });
});

describe('budgets with a schedule', () => {
  const nightly: Budget = { nodes: '0', schedule: '0 16 * * mon-fri', duration: '16h' };
  const weekend: Budget = { nodes: '1', schedule: '0 0 * * sat,sun', duration: '24h', reasons: ['Drifted'] };
  const budgets: Budget[] = [{ nodes: '10%' }, nightly, weekend];

  it.each<[string, number, number, number[], string]>([
    ['2026-01-05T15:59:59.999Z', 10, 0, [0], '2026-01-05T16:00:00Z'],
    ['2026-01-05T16:00:00Z', 0, 1, [0, 1], '2026-01-06T08:00:00Z'],
    ['2026-01-09T23:59:59Z', 0, 1, [0, 1], '2026-01-10T00:00:00Z'],
    ['2026-01-10T00:00:00Z', 0, 1, [0, 1, 2], '2026-01-10T08:00:00Z'],
    ['2026-01-10T08:00:00Z', 1, 2, [0, 2], '2026-01-12T00:00:00Z'],
    ['2026-01-12T00:00:00Z', 10, 0, [0], '2026-01-12T16:00:00Z'],
  ])('at %s allow %d by budget %d', (at, allowed, bindingBudget, activeBudgets, change) => {
    expect(allowedDisruptions(budgets, 100, 'Drifted', Date.parse(at))).toEqual({
      allowed,
      bindingBudget,
      activeBudgets,
      nextChangeMs: Date.parse(change),
      errors: [],
    });
  });

  it('for another reason change nothing', () => {
    expect(allowedDisruptions([{ nodes: '5' }, weekend], 100, 'Empty', atMs)).toMatchObject({
      activeBudgets: [0],
      nextChangeMs: null,
    });
  });

  it.each<[Budget, BudgetError['field'], string, RegExp]>([
    [{ nodes: '1', schedule: '0 0 * * 7', duration: '1h' }, 'schedule', '0 0 * * 7', /0 to 6 or sun to sat/],
    [{ nodes: '1', schedule: '@daily', duration: '8 h' }, 'duration', '8 h', /such as "8h"/],
    [{ nodes: '1', duration: '1h' }, 'schedule', '', /needs a schedule/],
    [{ nodes: '1', schedule: '', duration: '1h' }, 'schedule', '', /must have five fields/],
  ])('that cannot be read (%j) close the pool for every reason, for good', (budget, field, text, message) => {
    const given = [{ nodes: '50' }, nightly, { ...budget, reasons: ['Empty'] }];
    expect(allowedDisruptions(given, 100, 'Drifted', atMs)).toEqual({
      allowed: 0,
      bindingBudget: 2,
      activeBudgets: [0],
      nextChangeMs: null,
      errors: [{ index: 2, field, text, message: expect.stringMatching(message) }],
    });
  });

  it('and an unreadable number close the pool while they are active, and only then', () => {
    const given: Budget[] = [{ nodes: '5' }, { ...nightly, nodes: 'all', reasons: ['Empty'] }];
    const opensMs = Date.parse('2026-01-05T16:00:00Z');
    expect(allowedDisruptions(given, 100, 'Drifted', atMs)).toMatchObject({
      allowed: 5,
      nextChangeMs: opensMs,
      errors: [],
    });
    expect(allowedDisruptions(given, 100, 'Drifted', opensMs)).toMatchObject({
      allowed: 0,
      nextChangeMs: Date.parse('2026-01-06T08:00:00Z'),
      errors: [{ index: 1, field: 'nodes', text: 'all' }],
    });
  });
});

/** Counts instead of computing: the largest number of nodes that every matching budget bears, a node at a time. */
function countedAllowance(budgets: readonly Budget[], nodes: number, reason: string): number | null {
  const matching = budgets.filter(({ reasons }) => reasons?.some((other) => other === reason) ?? true);
  if (matching.length === 0) return null;
  const bears = (budget: Budget, disrupted: number): boolean => {
    const percent = /^(.*)%$/.exec(budget.nodes)?.[1];
    // Rounded up: the last node may be begun as long as those before it are below the share.
    return percent === undefined
      ? disrupted <= parseInt(budget.nodes, 10)
      : (disrupted - 1) * 100 < parseInt(percent, 10) * nodes;
  };
  let disrupted = 0;
  while (matching.every((budget) => bears(budget, disrupted + 1))) disrupted += 1;
  return disrupted;
}
