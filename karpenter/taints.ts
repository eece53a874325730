import type { Node } from './api.js';

/** The node carries a taint of that key, whatever its value and effect. */
export function hasTaint({ spec }: Node, key: string): boolean {
  return spec?.taints?.some((taint) => taint.key === key) ?? false;
}
