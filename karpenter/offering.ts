import type { NodeClaim } from './api.js';
import { capacityTypeLabel, instanceTypeLabel, zoneLabel } from './labels.js';
import type { Machine, Pool } from './pool.js';
import { parseQuantity } from './quantity.js';

/** What a launch asks Azure for. */
export interface Offering {
  /** The VM size, e.g. `Standard_D2as_v5`. */
  readonly instanceType: string;
  /** Kubernetes' word, e.g. `westus2-1`. */
  readonly zone: string;
  readonly capacityType: string;
}

/** The offering that a NodeClaim was launched with, by its labels. */
export function offeringOf(nodeClaim: NodeClaim): Offering | undefined {
  const labels = nodeClaim.metadata.labels ?? {};
  const instanceType = labels[instanceTypeLabel];
  const zone = labels[zoneLabel];
  if (instanceType === undefined || zone === undefined) return undefined;
  return { instanceType, zone, capacityType: labels[capacityTypeLabel] ?? 'on-demand' };
}

function offeringKey(offering: Offering): string {
  return `${offering.instanceType} ${offering.zone} ${offering.capacityType}`;
}

/** `Standard_D2as_v5 in westus2-1`, with the capacity type where it is not the usual one. */
export function describeOffering({ instanceType, zone, capacityType }: Offering): string {
  return `${instanceType} in ${zone}${capacityType === 'on-demand' ? '' : `, ${capacityType}`}`;
}

function fits(nodeClaim: NodeClaim, requests: Readonly<Record<string, string>>): boolean {
  const allocatable = nodeClaim.status?.allocatable ?? {};
  return Object.entries(requests).every(
    ([resource, text]) => parseQuantity(allocatable[resource] ?? '0') >= parseQuantity(text),
  );
}

/**
 * Which offerings to try for a replacement, in order: the old node's own first, then those that the pool's other nodes run on,
 * another VM size before another zone of the same one, as long as the old NodeClaim's requests fit.
 * @param limit how many at the most
 */
export function replacementOfferings(pool: Pool, machine: Machine, limit: number): readonly Offering[] {
  const own = offeringOf(machine.nodeClaim);
  const requests = machine.nodeClaim.spec.resources?.requests ?? {};
  const others = new Map<string, Offering>();
  for (const { nodeClaim } of pool.machines) {
    const offering = offeringOf(nodeClaim);
    if (offering !== undefined && fits(nodeClaim, requests)) others.set(offeringKey(offering), offering);
  }
  if (own !== undefined) others.delete(offeringKey(own));
  const sameSize = (offering: Offering): number => (offering.instanceType === own?.instanceType ? 1 : 0);
  const inOrder = [...others.values()].sort(
    (a, b) => sameSize(a) - sameSize(b) || offeringKey(a).localeCompare(offeringKey(b), 'en'),
  );
  return [...(own === undefined ? [] : [own]), ...inOrder].slice(0, limit);
}
