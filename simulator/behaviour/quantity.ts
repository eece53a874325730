const suffixFactors: Readonly<Record<string, number>> = {
  '': 1,
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
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

const quantityPattern = /^(?<digits>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?<suffix>[a-zA-Z]*)$/;

/**
 * The value of a Kubernetes quantity such as `1500m`, `2Gi` or `1e3`, in its base unit (cores, bytes, pieces).
 * @throws when the text is no quantity
 */
export function parseQuantity(text: string): number {
  const groups = quantityPattern.exec(text)?.groups;
  const factor = suffixFactors[groups?.['suffix'] ?? ''];
  if (groups === undefined || factor === undefined) throw new Error(`"${text}" is not a Kubernetes quantity`);
  return Number(groups['digits']) * factor;
}

/** A cpu quantity in whole thousandths of a core, rounded up. */
export function parseCpuMillis(text: string): number {
  // Rounded at the sixth place first: 0.1 * 1000 is a little more than 100.
  return Math.ceil(Number((parseQuantity(text) * 1_000).toFixed(6)));
}
