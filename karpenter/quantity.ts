const suffixFactors: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/**
 * The number that a Kubernetes quantity stands for: `1100m` is 1.1, `2Gi` is 2147483648, `1e3` is 1000.
 * @throws RangeError when the text is no quantity
 */
export function parseQuantity(text: string): number {
  const match = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)([a-zA-Z]*)$/.exec(text);
  const factor = suffixFactors[match?.[2] ?? ''];
  if (match === null || factor === undefined) throw new RangeError(`"${text}" is not a Kubernetes quantity`);
  return Number(match[1]) * factor;
}
