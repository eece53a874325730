import type { InstanceType } from './instanceType.js';
import type { Offering } from './offering.js';
import { offeringKey } from './offering.js';

/** An offering that fits, and what decides about its place. */
export interface FittingOffering {
  readonly offering: Offering;
  readonly instanceType: InstanceType;
  /** A node of the pool runs on this VM size. */
  readonly isInUse: boolean;
}

/** Negative when `a` is to be tried first: near the old node's, proven in this pool, then cheapest-looking. */
function compare(a: FittingOffering, b: FittingOffering, own: Offering | undefined): number {
  const other = (is: boolean): number => (is ? 0 : 1);
  const keys = ({ offering, instanceType, isInUse }: FittingOffering): readonly number[] => [
    other(own !== undefined && offeringKey(offering) === offeringKey(own)),
    other(own === undefined || offering.capacityType === own.capacityType),
    other(offering.instanceType === own?.instanceType),
    other(isInUse),
    instanceType.vCpus,
    instanceType.memoryMib,
    other(offering.zone === own?.zone),
  ];
  const [ofA, ofB] = [keys(a), keys(b)];
  const difference = ofA.map((key, index) => key - (ofB[index] ?? 0)).find((one) => one !== 0);
  return difference ?? offeringKey(a.offering).localeCompare(offeringKey(b.offering), 'en');
}

/**
 * Orders offerings so that no attempt fails for the reason of the one before: each tries another VM size while there is one, every
 * second one another zone, and spot is left after two attempts where the pool allows on-demand.
 * @param own the old node's: the first
 * @param limit how many at the most
 */
export function spreadOfferings(
  fitting: readonly FittingOffering[],
  own: Offering | undefined,
  limit: number,
): readonly Offering[] {
  const left = [...fitting].sort((a, b) => compare(a, b, own));
  const chosen: Offering[] = [];
  const timesChosen = (is: (other: Offering) => boolean): number => chosen.filter(is).length;
  const repeats = ({ instanceType, zone, capacityType }: Offering): number => {
    const sizes = timesChosen((other) => other.instanceType === instanceType);
    const zones = Math.floor(timesChosen((other) => other.zone === zone) / 2);
    const spots = capacityType === 'spot' ? Math.floor(timesChosen((other) => other.capacityType === 'spot') / 2) : 0;
    return sizes * fitting.length + zones + spots;
  };
  while (chosen.length < limit) {
    const fewest = Math.min(...left.map(({ offering }) => repeats(offering)));
    const at = left.findIndex(({ offering }) => repeats(offering) === fewest);
    const [next] = at === -1 ? [] : left.splice(at, 1);
    if (next === undefined) break;
    chosen.push(next.offering);
  }
  return chosen;
}
