import { describe, expect, it } from '@jest/globals';

import { summaryText } from '../../workflows/summaryText.js';

describe('a summary', () => {
  it('is one line, as it was where it is short', () => {
    expect(summaryText('Replace a (Manual: b)')).toBe('Replace a (Manual: b)');
    expect(summaryText('a\n b\tc')).toBe('a b c');
  });

  it.each([
    ['letters', 'x', 350],
    ['quotes, which are escaped', '"', 175],
    ['umlauts', 'ü', 175],
    ['emoji, of which none is torn apart', '🚀', 87],
  ])('is cut by the bytes of its encoding: %s', (_, character, count) => {
    expect(summaryText(character.repeat(600))).toBe(`${character.repeat(count)}…`);
  });
});
