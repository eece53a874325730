import { describe, expect, it } from '@jest/globals';

import { parseQuantity } from '../../karpenter/quantity.js';

describe('a Kubernetes quantity', () => {
  it.each([
    ['0', 0],
    ['2', 2],
    ['-1', -1],
    ['+1', 1],
    ['1.5', 1.5],
    ['1.', 1],
    ['.5', 0.5],
    ['1100m', 1.1],
    ['250u', 0.00025],
    ['5n', 5e-9],
    ['2k', 2000],
    ['3M', 3e6],
    ['4G', 4e9],
    ['1T', 1e12],
    ['1P', 1e15],
    ['1E', 1e18],
    ['1Ki', 1024],
    ['1.5Mi', 1_572_864],
    ['2Gi', 2_147_483_648],
    ['1Ti', 2 ** 40],
    ['1Pi', 2 ** 50],
    ['1Ei', 2 ** 60],
    ['1e3', 1000],
    ['1E3', 1000],
    ['12e-1', 1.2],
  ])('%s is %d', (text, expected) => {
    expect(parseQuantity(text)).toBe(expected);
  });

  it('is the same number however it is written', () => {
    const different = Array.from({ length: 10_000 }, (_, milli) => milli).filter(
      (milli) => parseQuantity(`${milli}m`) !== parseQuantity(String(milli / 1000)),
    );
    expect(different).toEqual([]);
  });

  it.each([
    '',
    ' ',
    'm',
    '1 Gi',
    '1gi',
    '1K',
    '1mi',
    '--1',
    '1..2',
    '1,5',
    '0x10',
    'NaN',
    '1e3m',
    '1e',
    '1constructor',
  ])('"%s" is none: refused by name', (text) => {
    expect(() => parseQuantity(text)).toThrow(new RangeError(`"${text}" is not a Kubernetes quantity`));
  });
});
