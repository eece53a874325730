import type { ResourceSku, ResourceSkuRestrictions } from '@azure/arm-compute';
import { describe, expect, it } from '@jest/globals';

import { parseSku } from '../../activities/azure/resourceSkus.js';
import { instanceTypeLabels, isGeneralPurpose } from '../../karpenter/instanceType.js';

/** As ARM answers it for one subscription, shortened. */
function skuOf(
  name: string,
  change: Partial<ResourceSku> = {},
  capabilities: Readonly<Record<string, string>> = {},
): ResourceSku {
  const all = {
    vCPUs: '4',
    MemoryGB: '16',
    CpuArchitectureType: 'x64',
    HyperVGenerations: 'V1,V2',
    PremiumIO: 'True',
    LowPriorityCapable: 'True',
    AcceleratedNetworkingEnabled: 'True',
    ...capabilities,
  };
  return {
    resourceType: 'virtualMachines',
    name,
    family: 'standardDASv5Family',
    locations: ['WestUS2'],
    locationInfo: [{ location: 'WestUS2', zones: ['3', '1', '2'] }],
    capabilities: Object.entries(all).map(([key, value]) => ({ name: key, value })),
    restrictions: [],
    ...change,
  };
}

describe('a VM size as ARM lists it', () => {
  it('is read with its zones in Kubernetes’ words', () => {
    expect(parseSku(skuOf('Standard_D4as_v5'), 'westus2')).toEqual({
      name: 'Standard_D4as_v5',
      quotaFamily: 'standardDASv5Family',
      location: 'westus2',
      zones: ['westus2-1', 'westus2-2', 'westus2-3'],
      vCpus: 4,
      memoryMib: 16_384,
      architecture: 'amd64',
      gpus: 0,
      hasPremiumStorage: true,
      hasAcceleratedNetworking: true,
      isGeneration2: true,
      isSpotCapable: true,
    });
  });

  it.each<[string, ResourceSku]>([
    ['a disk', skuOf('Premium_LRS', { resourceType: 'disks' })],
    [
      'restricted in the location',
      skuOf('Standard_D4as_v5', { restrictions: [{ type: 'Location', values: ['westus2'] }] }),
    ],
    ['without a number of vCPUs', skuOf('Standard_D4as_v5', {}, { vCPUs: 'many' })],
    ['without memory', skuOf('Standard_D4as_v5', {}, { MemoryGB: '0' })],
  ])('is none when it is %s', (_, sku) => {
    expect(parseSku(sku, 'westus2')).toBeUndefined();
  });

  it('has only the zones that are not restricted here', () => {
    const zone = (location: string, zones: string[]): ResourceSkuRestrictions => ({
      type: 'Zone',
      values: [location],
      restrictionInfo: { locations: [location], zones },
    });
    const restrictions = [zone('westus2', ['2']), zone('eastus', ['1'])];
    expect(parseSku(skuOf('Standard_D4as_v5', { restrictions }), 'westus2')?.zones).toEqual(['westus2-1', 'westus2-3']);
  });

  it('can be restricted elsewhere', () => {
    const restrictions: ResourceSkuRestrictions[] = [{ type: 'Location', values: ['eastus'] }];
    expect(parseSku(skuOf('Standard_D4as_v5', { restrictions }), 'westus2')).toBeDefined();
  });
});

describe('the labels of a VM size', () => {
  const azure = 'karpenter.azure.com';

  it.each<[string, string, string]>([
    ['Standard_D4as_v5', 'D', '5'],
    ['Standard_F2s_v2', 'F', '2'],
    ['Standard_A4', 'A', '1'],
    ['Standard_E4-2s_v5', 'E', '5'],
    ['Standard_NC24ads_A100_v4', 'N', '4'],
    ['Standard_NV6', 'N', '1'],
    ['Standard_DC2as_v5', 'D', '5'],
  ])('%s: family %s, version %s', (name, family, version) => {
    const instanceType = parseSku(skuOf(name), 'westus2');
    expect(instanceType === undefined ? undefined : instanceTypeLabels(instanceType)).toMatchObject({
      [`${azure}/sku-name`]: name,
      [`${azure}/sku-family`]: family,
      [`${azure}/sku-version`]: version,
      [`${azure}/sku-cpu`]: '4',
      [`${azure}/sku-memory`]: '16384',
      'kubernetes.io/arch': 'amd64',
      'node.kubernetes.io/instance-type': name,
    });
  });

  it('say which sizes pods may be moved to unasked', () => {
    const isOrdinary = (name: string): boolean | undefined => {
      const instanceType = parseSku(skuOf(name), 'westus2');
      return instanceType === undefined ? undefined : isGeneralPurpose(instanceType);
    };
    expect(isOrdinary('Standard_D4as_v5')).toBe(true);
    expect(isOrdinary('Standard_E4-2s_v5')).toBe(false);
    expect(isOrdinary('Standard_DC2as_v5')).toBe(false);
    expect(isOrdinary('not a size')).toBe(false);
  });
});
