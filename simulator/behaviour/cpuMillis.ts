import { parseQuantity } from '../../karpenter/quantity.js';

/** A cpu quantity in whole thousandths of a core, rounded up. */
export function parseCpuMillis(text: string): number {
  // Rounded at the sixth place first: 0.1 * 1000 is a little more than 100.
  return Math.ceil(Number((parseQuantity(text) * 1_000).toFixed(6)));
}
