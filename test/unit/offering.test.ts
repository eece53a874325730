import { describe, expect, it } from '@jest/globals';

import type { Offering } from '../../karpenter/offering.js';
import { describeOffering, offeringOf, replacementOfferings } from '../../karpenter/offering.js';
import { machineOf, poolOf } from './poolFixture.js';

function onDemand(instanceType: string, zone: string): Offering {
  return { instanceType, zone, capacityType: 'on-demand' };
}

const d2InZone1 = onDemand('Standard_D2as_v5', 'westus2-1');
const d2InZone2 = onDemand('Standard_D2as_v5', 'westus2-2');
const d4InZone1 = onDemand('Standard_D4as_v5', 'westus2-1');
const d4InZone3 = onDemand('Standard_D4as_v5', 'westus2-3');

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

describe('the offerings to try for a replacement', () => {
  const old = machineOf('old', { offering: d2InZone1, requests: { cpu: '1100m', memory: '2Gi' } });
  const roomy = { cpu: '3860m', memory: '12Gi' };

  it('are the old node’s own first, then another VM size, then another zone of the same one', () => {
    const pool = poolOf([
      machineOf('a', { offering: d2InZone2, allocatable: roomy }),
      machineOf('b', { offering: d4InZone3, allocatable: roomy }),
      machineOf('c', { offering: d4InZone1, allocatable: roomy }),
      old,
    ]);
    expect(replacementOfferings(pool, old, 9)).toEqual([d2InZone1, d4InZone1, d4InZone3, d2InZone2]);
  });

  it('are no more than asked for, and none twice', () => {
    const pool = poolOf([
      old,
      machineOf('same', { offering: d2InZone1, allocatable: roomy }),
      machineOf('a', { offering: d4InZone1, allocatable: roomy }),
      machineOf('b', { offering: d4InZone1, allocatable: roomy }),
      machineOf('c', { offering: d4InZone3, allocatable: roomy }),
    ]);
    expect(replacementOfferings(pool, old, 2)).toEqual([d2InZone1, d4InZone1]);
    expect(replacementOfferings(pool, old, 9)).toEqual([d2InZone1, d4InZone1, d4InZone3]);
  });

  it.each([
    ['too little of one resource', { cpu: '1090m', memory: '12Gi' }],
    ['a resource that is not there at all', { cpu: '4' }],
    ['nothing known of it', {}],
  ])('leave out what does not fit the old NodeClaim’s requests: %s', (_, allocatable) => {
    const pool = poolOf([old, machineOf('small', { offering: d4InZone1, allocatable })]);
    expect(replacementOfferings(pool, old, 9)).toEqual([d2InZone1]);
  });

  it('include what fits exactly', () => {
    const pool = poolOf([
      old,
      machineOf('tight', { offering: d4InZone1, allocatable: { cpu: '1.1', memory: '2048Mi' } }),
    ]);
    expect(replacementOfferings(pool, old, 9)).toEqual([d2InZone1, d4InZone1]);
  });

  it('are those of the others when the old node’s own is unknown', () => {
    const bare = machineOf('bare');
    const pool = poolOf([bare, machineOf('a', { offering: d4InZone1 }), machineOf('b', { offering: d2InZone1 })]);
    expect(replacementOfferings(pool, bare, 9)).toEqual([d2InZone1, d4InZone1]);
  });
});
