import type { InstanceType } from './instanceType.js';
import type { Offering } from './offering.js';

/** How far it reaches that Azure could not give an offering. */
export type UnavailableScope =
  /** This VM size in this zone on this capacity type. */
  | 'offering'
  /** This VM size in this zone. */
  | 'zone'
  /** This VM size on this capacity type, in all zones. */
  | 'capacityType'
  /** This VM size altogether. */
  | 'instanceType'
  /** All that is spot. */
  | 'spot';

/** Stands for every VM size, zone or capacity type. */
const any = 'any';

/** What is not to be asked for again before an instant; each part may be `any`. */
export interface UnavailableMark {
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: string;
  /** Epoch milliseconds. */
  readonly untilMs: number;
  /** Azure's. */
  readonly code: string;
}

/** The mark that a failure of this offering makes. */
export function markOf(scope: UnavailableScope, offering: Offering, untilMs: number, code: string): UnavailableMark {
  const { instanceType, zone, capacityType } = offering;
  switch (scope) {
    case 'offering':
      return { instanceType, zone, capacityType, untilMs, code };
    case 'zone':
      return { instanceType, zone, capacityType: any, untilMs, code };
    case 'capacityType':
      return { instanceType, zone: any, capacityType, untilMs, code };
    case 'instanceType':
      return { instanceType, zone: any, capacityType: any, untilMs, code };
    case 'spot':
      return { instanceType: any, zone: any, capacityType: 'spot', untilMs, code };
  }
}

/** A name for what is marked, of characters that a ConfigMap's key may have; none of the parts has a dot. */
export function markKey({ instanceType, zone, capacityType }: Omit<UnavailableMark, 'untilMs' | 'code'>): string {
  return `${instanceType}.${zone}.${capacityType}`;
}

/** The parts of a key that markKey made. */
export function parseMarkKey(key: string): Omit<UnavailableMark, 'untilMs' | 'code'> | undefined {
  const [instanceType, zone, capacityType, ...rest] = key.split('.');
  if (instanceType === undefined || zone === undefined || capacityType === undefined || rest.length > 0)
    return undefined;
  return { instanceType, zone, capacityType };
}

/**
 * The mark that forbids an offering now. As Karpenter's Azure provider has it, a mark on a VM size holds for its family from that many
 * vCPUs on: whoever has no room or no quota for 8 has none for 16.
 * @param instanceTypes where families and vCPUs are known from; without them a mark holds for its own VM size only
 */
export function findMark(
  marks: readonly UnavailableMark[],
  offering: Offering,
  instanceTypes: ReadonlyMap<string, InstanceType>,
  atMs: number,
): UnavailableMark | undefined {
  const own = instanceTypes.get(offering.instanceType);
  const covers = (mark: UnavailableMark): boolean => {
    if (mark.instanceType === any || mark.instanceType === offering.instanceType) return true;
    const marked = instanceTypes.get(mark.instanceType);
    if (own === undefined || marked === undefined) return false;
    return own.quotaFamily === marked.quotaFamily && own.vCpus >= marked.vCpus;
  };
  return marks.find(
    (mark) =>
      atMs < mark.untilMs &&
      [any, offering.zone].includes(mark.zone) &&
      [any, offering.capacityType].includes(mark.capacityType) &&
      covers(mark),
  );
}
