import type { NodeClaim } from './api.js';
import { capacityTypeLabel, instanceTypeLabel, zoneLabel } from './labels.js';

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

/** Equal for equal offerings. */
export function offeringKey(offering: Offering): string {
  return `${offering.instanceType} ${offering.zone} ${offering.capacityType}`;
}

/** `Standard_D2as_v5 in westus2-1`, with the capacity type where it is not the usual one. */
export function describeOffering({ instanceType, zone, capacityType }: Offering): string {
  return `${instanceType} in ${zone}${capacityType === 'on-demand' ? '' : `, ${capacityType}`}`;
}
