import { describe, expect, it } from '@jest/globals';

import type { Pod } from '../../karpenter/api.js';
import type { PersistentVolume } from '../../karpenter/volumes.js';
import { claimsOf, commonZones, zonesOf } from '../../karpenter/volumes.js';

const zoneKey = 'topology.kubernetes.io/zone';
const diskKey = 'topology.disk.csi.azure.com/zone';

/** A volume whose terms name these zones each; undefined: a term about something else. */
function volumeOf(...terms: readonly (readonly [string, ...string[]] | undefined)[]): PersistentVolume {
  const nodeSelectorTerms = terms.map((term) => {
    const [key, ...values] = term ?? ['kubernetes.io/os', 'linux'];
    return { matchExpressions: [{ key, operator: 'In' as const, values }] };
  });
  return { metadata: { name: 'v' }, spec: { nodeAffinity: { required: { nodeSelectorTerms } } } };
}

describe('the zones of a volume', () => {
  it.each<[string, PersistentVolume, readonly string[] | undefined]>([
    ['one, by Kubernetes’ name for it', volumeOf([zoneKey, 'westus2-1']), ['westus2-1']],
    ['one, by the disk driver’s name for it', volumeOf([diskKey, 'westus2-1']), ['westus2-1']],
    ['all of its alternatives', volumeOf([zoneKey, 'westus2-1'], [zoneKey, 'westus2-2']), ['westus2-1', 'westus2-2']],
    ['any, when an alternative names none', volumeOf([zoneKey, 'westus2-1'], undefined), undefined],
    ['any, without affinity', { metadata: { name: 'v' }, spec: {} }, undefined],
  ])('are %s', (_, volume, expected) => {
    expect(zonesOf(volume)).toEqual(expected);
  });

  it('are, for several volumes, those that they share', () => {
    const anywhere = volumeOf(undefined);
    const oneOrTwo = volumeOf([zoneKey, 'westus2-1', 'westus2-2']);
    const two = volumeOf([diskKey, 'westus2-2']);
    expect(commonZones([anywhere, oneOrTwo, two])).toEqual(['westus2-2']);
    expect(commonZones([oneOrTwo, anywhere])).toEqual(['westus2-1', 'westus2-2']);
    expect(commonZones([anywhere])).toBeUndefined();
    expect(commonZones([])).toBeUndefined();
    expect(commonZones([volumeOf([zoneKey, 'westus2-1']), two])).toEqual([]);
  });
});

describe('the claims of a pod', () => {
  it('are its own, and those that are named after it and a generic ephemeral volume', () => {
    const pod: Pod = {
      metadata: { name: 'db-0', namespace: 'shop', uid: 'u' },
      spec: {
        containers: [],
        volumes: [
          { name: 'data', persistentVolumeClaim: { claimName: 'data-db-0' } },
          { name: 'scratch', ephemeral: {} },
          { name: 'config' },
        ],
      },
    };
    expect(claimsOf(pod)).toEqual([
      { namespace: 'shop', name: 'data-db-0' },
      { namespace: 'shop', name: 'db-0-scratch' },
    ]);
  });
});
