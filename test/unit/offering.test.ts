import { describe, expect, it } from '@jest/globals';

import type { Offering } from '../../karpenter/offering.js';
import { describeOffering, offeringOf } from '../../karpenter/offering.js';
import { machineOf } from './poolFixture.js';

function onDemand(instanceType: string, zone: string): Offering {
  return { instanceType, zone, capacityType: 'on-demand' };
}

const d2InZone1 = onDemand('Standard_D2as_v5', 'westus2-1');

describe('the offering of a NodeClaim', () => {
  it('is read from its labels', () => {
    expect(offeringOf(machineOf('a', { offering: d2InZone1 }).nodeClaim)).toEqual(d2InZone1);
  });

  it('is on-demand when nothing else is said', () => {
    const { nodeClaim } = machineOf('a', { offering: d2InZone1 });
    const { 'karpenter.sh/capacity-type': dropped, ...labels } = nodeClaim.metadata.labels ?? {};
    expect(dropped).toBe('on-demand');
    expect(offeringOf({ ...nodeClaim, metadata: { ...nodeClaim.metadata, labels } })).toEqual(d2InZone1);
  });

  it('is unknown without labels', () => {
    expect(offeringOf(machineOf('a').nodeClaim)).toBeUndefined();
  });

  it('is described with the capacity type where that is not the usual one', () => {
    expect(describeOffering(d2InZone1)).toBe('Standard_D2as_v5 in westus2-1');
    expect(describeOffering({ ...d2InZone1, capacityType: 'spot' })).toBe('Standard_D2as_v5 in westus2-1, spot');
  });
});
