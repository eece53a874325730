import type { NodeClaim } from './api.js';
import { instanceTypeLabel } from './labels.js';
import type { Pool } from './pool.js';
import { parseQuantity } from './quantity.js';

/** From the create of a replacement to the end of the old instance both take quota. */
export interface DoubleTime {
  readonly fromMs: number;
  readonly toMs: number;
  /** Null: nothing tells how many vCPUs the replacement has. */
  readonly vcpus: number | null;
}

/** What the replacements take beyond what the pool has, at the most. */
export interface Surge {
  readonly vcpus: number;
  /** When that is so first, epoch milliseconds; null: never. */
  readonly atMs: number | null;
  /** Replacements whose vCPUs nothing tells: they are not counted. */
  readonly unknown: number;
}

/** How many vCPUs a NodeClaim's VM size has, by its own status or that of another of the size; null: nothing tells. */
export function createVcpuLookup({ machines }: Pool): (nodeClaim: NodeClaim) => number | null {
  const vcpusOf = ({ status }: NodeClaim): number | null =>
    status?.capacity?.cpu === undefined ? null : parseQuantity(status.capacity.cpu);
  const bySize = new Map(machines.map(({ nodeClaim }) => [sizeOf(nodeClaim), vcpusOf(nodeClaim)]));
  return (nodeClaim) => vcpusOf(nodeClaim) ?? bySize.get(sizeOf(nodeClaim)) ?? null;
}

function sizeOf({ metadata }: NodeClaim): string | undefined {
  return metadata.labels?.[instanceTypeLabel];
}

/** The peak of what is there twice. Who ends at the instant at which another starts still counts: Azure is not that quick. */
export function peakSurge(times: readonly DoubleTime[]): Surge {
  const changes = times
    .flatMap(({ fromMs, toMs, vcpus }) => [
      { atMs: fromMs, vcpus: vcpus ?? 0 },
      { atMs: toMs, vcpus: -(vcpus ?? 0) },
    ])
    .sort((a, b) => a.atMs - b.atMs || b.vcpus - a.vcpus);
  let vcpus = 0;
  let peak: { readonly vcpus: number; readonly atMs: number | null } = { vcpus: 0, atMs: null };
  for (const change of changes) {
    vcpus += change.vcpus;
    if (vcpus > peak.vcpus) peak = { vcpus, atMs: change.atMs };
  }
  return { ...peak, unknown: times.filter((time) => time.vcpus === null).length };
}
