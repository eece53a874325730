import { describe, expect, it } from '@jest/globals';

import type { Budget } from '../../karpenter/api.js';
import type { BudgetError } from '../../karpenter/budget.js';
import { allowedDisruptions } from '../../karpenter/budget.js';
import { validateBudgets } from '../../karpenter/budgetValidation.js';
import { readBudgetValidationCases } from './budgetCases.js';

const cases = readBudgetValidationCases();
const casesRun = 53;
const runTimeCases = cases.filter(({ parsesAtRunTime }) => parsesAtRunTime !== undefined);
const atMs = Date.UTC(2026, 0, 5, 12);

/** The field of our error for each word of the cases. */
const fieldsByWord: ReadonlyMap<string | undefined, readonly string[]> = new Map([
  [undefined, []],
  ['nodes', ['0 nodes']],
  ['schedule', ['0 schedule']],
  ['schedule (index 1)', ['1 schedule']],
  ['duration', ['0 duration']],
  ['reasons', ['0 reasons']],
  ['budgets (maxItems)', ['50 budgets']],
  ['budgets (schedule must be set with duration)', ['0 schedule']],
]);

describe(`the ${casesRun} cases of what Karpenter's CRD takes`, () => {
  it('are all here', () => {
    expect(cases).toHaveLength(casesRun);
    expect(runTimeCases).toHaveLength(7);
  });

  it.each(cases)('$name', ({ budgets, valid, field }) => {
    const errors = validateBudgets(budgets);
    expect(errors.length === 0).toBe(valid);
    expect(errors.map((error) => `${error.index} ${error.field}`)).toEqual(fieldsByWord.get(field));
  });

  it.each(runTimeCases)('at run time: $name', ({ budgets, parsesAtRunTime }) => {
    const errors = parsesAtRunTime === true ? [] : [expect.objectContaining({ index: 0, field: 'schedule' })];
    expect(allowedDisruptions(budgets, 10, 'Drifted', atMs).errors).toEqual(errors);
  });
});

describe('validation', () => {
  it.each<[string, Budget, BudgetError['field'], string, RegExp]>([
    ['nodes', { nodes: '101%' }, 'nodes', '101%', /"5" or a percentage up to "100%"/],
    [
      'schedule',
      { nodes: '1', schedule: '@reboot', duration: '1h' },
      'schedule',
      '@reboot',
      /"0 9 \* \* mon-fri" or a descriptor such as "@daily"/,
    ],
    [
      'duration',
      { nodes: '1', schedule: '@daily', duration: '30s' },
      'duration',
      '30s',
      /hours and minutes such as "8h"/,
    ],
    ['missing schedule', { nodes: '1', duration: '1h' }, 'schedule', '', /set with a duration/],
    ['missing duration', { nodes: '1', schedule: '@daily' }, 'duration', '', /set with a schedule/],
    [
      'unknown reason',
      { nodes: '1', reasons: ['Expired'] },
      'reasons',
      'Expired',
      /one of Underutilized, Empty, Drifted, Unhealthy/,
    ],
    ['reason named twice', { nodes: '1', reasons: ['Empty', 'Empty'] }, 'reasons', 'Empty', /once/],
  ])('of a %s names index, field, text and what would be right', (_, budget, field, text, message) => {
    const errors = validateBudgets([{ nodes: '1' }, budget]);
    expect(errors).toEqual([{ index: 1, field, text, message: expect.stringMatching(message) }]);
  });

  it('tells everything that is wrong', () => {
    const budgets: Budget[] = [
      { nodes: '5.5', schedule: '*', duration: '1d', reasons: ['Drifted', 'x', 'Drifted'] },
      { nodes: '5' },
      { nodes: '' },
    ];
    expect(validateBudgets(budgets).map(({ index, field, text }) => [index, field, text])).toEqual([
      [0, 'nodes', '5.5'],
      [0, 'schedule', '*'],
      [0, 'duration', '1d'],
      [0, 'reasons', 'x'],
      [0, 'reasons', 'Drifted'],
      [2, 'nodes', ''],
    ]);
  });

  it('takes the four reasons of Karpenter, and not more than fifty of any', () => {
    const reasons = ['Underutilized', 'Empty', 'Drifted', 'Unhealthy'];
    expect(validateBudgets([{ nodes: '1', reasons }])).toEqual([]);
    const many = Array.from({ length: 51 }, (_, index) => reasons[index] ?? `Reason${index}`);
    expect(validateBudgets([{ nodes: '1', reasons: many }])[0]).toMatchObject({ field: 'reasons', text: '51 reasons' });
  });

  // The pattern as Karpenter writes it, in the words of JavaScript's regular expressions.
  const pattern =
    /^(@(annually|yearly|monthly|weekly|daily|midnight|hourly))|(([^\n]+)[\t\n\f\r ]([^\n]+)[\t\n\f\r ]([^\n]+)[\t\n\f\r ]([^\n]+)[\t\n\f\r ]([^\n]+))$/;

  it('takes every schedule of up to nine characters that the pattern takes, and no other', () => {
    const characters = ['*', ' ', '\n'];
    const texts = ['@daily', '@dailyx', 'x@daily', ' @daily', '@every 1h', '@every 1h 1 1 1', '\u00a0 a b c d e'];
    for (let length = 0; length <= 9; length += 1) {
      for (let number = 0; number < 3 ** length; number += 1) {
        texts.push(Array.from({ length }, (_, at) => characters[Math.floor(number / 3 ** at) % 3]).join(''));
      }
    }
    const isTaken = (schedule: string): boolean =>
      validateBudgets([{ nodes: '1', schedule, duration: '1h' }]).length === 0;
    expect(texts.filter((text) => isTaken(text) !== pattern.test(text))).toEqual([]);
    expect(texts.filter(isTaken).length).toBeGreaterThan(100);
  });

  it('takes no longer for a long schedule than its length asks for', () => {
    const schedule = `${' '.repeat(100_000)}\n`;
    expect(validateBudgets([{ nodes: '1', schedule, duration: '1h' }])).toHaveLength(1);
  });
});
