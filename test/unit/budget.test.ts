import { describe, expect, it } from '@jest/globals';

import type { Budget } from '../../karpenter/api.js';
import { admit } from '../../karpenter/admission.js';
import { allowedDisruptions } from '../../karpenter/budget.js';
import { readUnscheduledBudgetCases } from './budgetCases.js';
import { machinesOf, poolOf } from './poolFixture.js';
import { Random } from './random.js';

const cases = readUnscheduledBudgetCases();
const casesRun = 71;
const disruptingCases = cases.filter(({ reason, disrupting }) => reason === 'Drifted' && disrupting !== undefined);
const disruptingCasesRun = 14;

const noneInFlight = {
  inFlight: new Set<string>(),
  first: new Set<string>(),
  last: new Set<string>(),
  held: new Set<string>(),
};

describe(`the ${casesRun} unscheduled cases of Karpenter's budgets`, () => {
  it('are all here', () => {
    expect(cases).toHaveLength(casesRun);
    expect(disruptingCases).toHaveLength(disruptingCasesRun);
  });

  it.each(cases)('$name', ({ budgets, nodes, reason, allowed, error }) => {
    const allowance = allowedDisruptions(budgets, nodes, reason);
    expect({ allowed: allowance.allowed, isError: allowance.errors.length > 0 }).toEqual({ allowed, isError: error });
  });

  it.each(disruptingCases)(
    'permits are what is left after $disrupting disrupted: $name',
    ({ budgets, nodes, disrupting = 0, available = null }) => {
      // As many drifted nodes as could ever be asked for, of which some are disrupted already.
      const notReady = machinesOf('gone', Math.min(disrupting, nodes), { isReady: false });
      const drifted = machinesOf('drifted', nodes - notReady.length, { driftedSince: '2026-01-05T12:00:00Z' });
      const { start, waiting } = admit(poolOf([...notReady, ...drifted], { budgets }), noneInFlight);
      expect(start).toHaveLength(Math.min(available ?? Infinity, drifted.length));
      expect(start.length + waiting.length).toBe(drifted.length);
    },
  );
});

describe('budgets', () => {
  it('that are not given are one of 10%', () => {
    expect(allowedDisruptions(undefined, 25, 'Drifted')).toEqual({ allowed: 3, bindingBudget: 0, errors: [] });
  });

  it('bind by the smallest that matches the reason, the first of equals', () => {
    const budgets: Budget[] = [{ nodes: '5' }, { nodes: '20%' }, { nodes: '2', reasons: ['Drifted'] }, { nodes: '2' }];
    expect(allowedDisruptions(budgets, 100, 'Drifted')).toMatchObject({ allowed: 2, bindingBudget: 2 });
    expect(allowedDisruptions(budgets, 100, 'Empty')).toMatchObject({ allowed: 2, bindingBudget: 3 });
  });

  it.each(['', '-1', '5.5', '1e2', '10 %', '%', '5%%', ' 5', 'all', '9223372036854775808', '9223372036854775808%'])(
    'that cannot be read ("%s") close the pool for every reason and say which one',
    (nodes) => {
      const budgets: Budget[] = [{ nodes: '50' }, { nodes, reasons: ['Empty'] }];
      for (const reason of ['Drifted', 'Empty']) {
        const { allowed, bindingBudget, errors } = allowedDisruptions(budgets, 100, reason);
        expect({ allowed, bindingBudget }).toEqual({ allowed: 0, bindingBudget: 1 });
        expect(errors).toEqual([expect.objectContaining({ index: 1, field: 'nodes', text: nodes })]);
      }
    },
  );

  it.each([
    ['2147483647', 2_147_483_647],
    ['2147483648', 0],
    ['4294967297', 1],
    ['9223372036854775807', 0],
  ])('beyond 32 bits wrap as in Karpenter and are never below 0: "%s" is %d', (nodes, expected) => {
    expect(allowedDisruptions([{ nodes }], 10, 'Drifted').allowed).toBe(expected);
  });

  it('agree with an independent computation for random inputs', () => {
    const random = new Random(20_260_105);
    const reasons = ['Drifted', 'Empty', 'Underutilized'];
    for (let round = 0; round < 5_000; round += 1) {
      const budgets = Array.from({ length: random.below(5) }, (): Budget => {
        const nodes = random.below(2) === 0 ? String(random.below(30)) : `${random.below(101)}%`;
        return random.below(3) === 0 ? { nodes, reasons: reasons.filter(() => random.below(2) === 0) } : { nodes };
      });
      const nodes = random.below(1_000);
      for (const reason of reasons) {
        const { allowed } = allowedDisruptions(budgets, nodes, reason);
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
