import { describe, expect, it } from '@jest/globals';

import { clockTime, durationText, markdownTable } from '../../workflows/markdown.js';

describe('a Markdown table', () => {
  it('has a head, a rule and a line a row', () => {
    expect(
      markdownTable(
        ['Step', 'Took'],
        [
          ['Reserve', '0.3 s'],
          ['Drain', ''],
        ],
      ).split('\n'),
    ).toEqual(['| Step | Took |', '| --- | --- |', '| Reserve | 0.3 s |', '| Drain |  |']);
  });

  it('keeps a cell in its place, whatever stands in it', () => {
    expect(markdownTable(['a'], [['x | y\nz']]).split('\n')).toEqual(['| a |', '| --- |', '| x \\| y z |']);
  });

  it('is only a head without rows', () => {
    expect(markdownTable(['a', 'b'], [])).toBe('| a | b |\n| --- | --- |');
  });
});

describe('times in words', () => {
  it('show a clock in UTC to the tenth', () => {
    expect(clockTime(Date.UTC(2026, 0, 5, 12, 34, 56, 789))).toBe('12:34:56.7');
  });

  it.each([
    [0, '0.0 s'],
    [345, '0.3 s'],
    [95_000, '95.0 s'],
    [599_900, '599.9 s'],
    [600_000, '10 min'],
    [720_000, '12 min'],
    [5_400_000, '90 min'],
  ])('show %d ms as %s', (durationMs, expected) => {
    expect(durationText(durationMs)).toBe(expected);
  });
});
