const decimalExponents: ReadonlyMap<string, number> = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
]);

const binaryExponents: ReadonlyMap<string, number> = new Map([
  ['Ki', 10],
  ['Mi', 20],
  ['Gi', 30],
  ['Ti', 40],
  ['Pi', 50],
  ['Ei', 60],
]);

/**
 * The number that a Kubernetes quantity stands for: `1100m` is 1.1, `2Gi` is 2147483648, `1e3` is 1000.
 * @throws RangeError when the text is no quantity
 */
export function parseQuantity(text: string): number {
  const [, digits, exponent, suffix] = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:[eE]([+-]?\d+)|([a-zA-Z]*))$/.exec(text) ?? [];
  const binary = binaryExponents.get(suffix ?? '');
  if (digits !== undefined && binary !== undefined) return Number(digits) * 2 ** binary;
  const decimal = exponent ?? decimalExponents.get(suffix ?? '');
  if (digits === undefined || decimal === undefined) throw new RangeError(`"${text}" is not a Kubernetes quantity`);
  // By way of text, so that equal quantities are equal numbers: 1001 * 1e-3 is not 1.001.
  return Number(`${digits}e${decimal}`);
}
