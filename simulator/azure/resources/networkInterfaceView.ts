import { without } from '../without.js';
import type { NetworkInterface } from './networkInterfaces.js';

/** As the network resource provider answers it. */
export function renderNetworkInterface(existing: NetworkInterface, location: string): object {
  const { id, name, sequence, resourceGuid, configuration } = existing;
  const address = `10.${224 + Math.floor(sequence / 65_536)}.${Math.floor(sequence / 256) % 256}.${sequence % 256}`;
  return {
    name,
    id,
    etag: `W/"${resourceGuid}"`,
    type: 'Microsoft.Network/networkInterfaces',
    location,
    tags: existing.tags,
    properties: {
      ...without(configuration, 'deleteOption'),
      provisioningState: existing.provisioningState,
      resourceGuid,
      nicType: 'Standard',
      macAddress: `00-0D-3A-${sequence
        .toString(16)
        .toUpperCase()
        .padStart(6, '0')
        .replace(/(..)(?=.)/g, '$1-')}`,
      virtualMachine: existing.virtualMachineId === undefined ? undefined : { id: existing.virtualMachineId },
      ipConfigurations: configuration.ipConfigurations.map((ipConfiguration) => ({
        name: ipConfiguration.name,
        id: `${id}/ipConfigurations/${ipConfiguration.name}`,
        type: 'Microsoft.Network/networkInterfaces/ipConfigurations',
        properties: {
          provisioningState: 'Succeeded',
          privateIPAddress: address,
          privateIPAllocationMethod: 'Dynamic',
          privateIPAddressVersion: 'IPv4',
          ...ipConfiguration.properties,
        },
      })),
    },
  };
}
