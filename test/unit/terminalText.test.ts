import { describe, expect, it } from '@jest/globals';

import { cutTable, factLines, instantText, spanText } from '../../client/cli/terminalText.js';

describe('a table', () => {
  const columns = [{ head: 'NAME', isName: true }, { head: 'WHAT' }] as const;

  it('is as narrow as its cells', () => {
    expect(cutTable(columns, [['a', 'b']])).toEqual(['NAME  WHAT', 'a     b']);
  });

  it('cuts everything else before names, and never passes 80 columns', () => {
    const name = 'n'.repeat(60);
    expect(cutTable(columns, [[name, 'w'.repeat(50)]])[1]).toBe(`${name}  ${'w'.repeat(9)}…${'w'.repeat(8)}`);
    const [, row] = cutTable(columns, [[`${'n'.repeat(90)}-x1y2z`, 'w'.repeat(50)]]);
    expect(row).toBe(`${'n'.repeat(33)}…${'n'.repeat(26)}-x1y2z  wwwwww…wwwww`);
    expect(row).toHaveLength(80);
  });
});

describe('text', () => {
  it('goes on below itself beside its label', () => {
    const lines = factLines([
      ['why', 'word '.repeat(20).trim()],
      ['remedy', 'none'],
    ]);
    expect(lines).toEqual([
      `why     ${'word '.repeat(14).trim()}`,
      `        ${'word '.repeat(6).trim()}`,
      'remedy  none',
    ]);
  });
});

describe('times', () => {
  it.each([
    [0, '0s'],
    [499, '0s'],
    [45_000, '45s'],
    [210_000, '3m30s'],
    [240_000, '4m'],
    [7_500_000, '2h5m'],
    [3_600_000, '1h'],
    [266_400_000, '3d2h'],
  ])('%d ms are %s', (durationMs, text) => {
    expect(spanText(durationMs)).toBe(text);
  });

  it('are told to the second', () => {
    expect(instantText(Date.parse('2026-01-05T09:00:00.999Z'))).toBe('2026-01-05T09:00:00Z');
  });
});
