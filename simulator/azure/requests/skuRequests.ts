import { notSimulated } from '../protocol/armError.js';
import type { ArmAnswer, ArmRequest } from '../protocol/armRequest.js';
import type { VmSize } from '../vmSizes.js';
import { vmSizes, zones } from '../vmSizes.js';
import type { RequestContext } from './context.js';

function renderSku(size: VmSize, location: string): object {
  return {
    resourceType: 'virtualMachines',
    name: size.name,
    tier: 'Standard',
    size: size.name.replace('Standard_', ''),
    family: size.family,
    locations: [location],
    locationInfo: [{ location, zones, zoneDetails: [] }],
    capabilities: [
      { name: 'vCPUs', value: String(size.vCpus) },
      { name: 'vCPUsAvailable', value: String(size.vCpus) },
      { name: 'MemoryGB', value: String(size.memoryGiB) },
      { name: 'CpuArchitectureType', value: 'x64' },
      { name: 'HyperVGenerations', value: 'V1,V2' },
      { name: 'PremiumIO', value: 'True' },
      { name: 'LowPriorityCapable', value: 'True' },
      { name: 'AcceleratedNetworkingEnabled', value: 'True' },
    ],
    restrictions: renderRestrictions(size, location),
  };
}

function renderRestrictions({ restriction }: VmSize, location: string): readonly object[] {
  const reasonCode = 'NotAvailableForSubscription';
  switch (restriction?.kind) {
    case undefined:
      return [];
    case 'location':
      return [{ type: 'Location', values: [location], restrictionInfo: { locations: [location] }, reasonCode }];
    case 'zones': {
      const restrictionInfo = { locations: [location], zones: restriction.zones };
      return [{ type: 'Zone', values: [location], restrictionInfo, reasonCode }];
    }
  }
}

/** The sizes on offer, for no filter or one by location. @throws ArmError */
export function handleSkus(context: RequestContext, request: ArmRequest): ArmAnswer {
  if (request.method !== 'GET') throw notSimulated(`${request.method} on SKUs`);
  const filter = request.query.get('$filter') ?? `location eq '${context.location}'`;
  const wanted = /^\s*location eq '([^']*)'\s*$/.exec(filter)?.[1];
  if (wanted === undefined) throw notSimulated(`$filter=${filter} on SKUs`);
  const offered = wanted.toLowerCase() === context.location ? vmSizes : [];
  return { status: 200, body: { value: offered.map((size) => renderSku(size, context.location)) } };
}
