import type {
  NetworkProfile,
  VirtualMachine,
  VirtualMachineNetworkInterfaceConfiguration,
  VirtualMachineNetworkInterfaceIPConfiguration,
} from '@azure/arm-compute';

import { without } from '../without.js';

/** The SDK flattens `properties` into their owners; these put them back, as the SDK does before it sends them. */

function ipConfigurationToWire({ name, ...properties }: VirtualMachineNetworkInterfaceIPConfiguration): object {
  return { name, properties };
}

function interfaceConfigurationToWire(configuration: VirtualMachineNetworkInterfaceConfiguration): object {
  const { name, tags, ipConfigurations, ...properties } = configuration;
  return {
    name,
    tags,
    properties: { ...properties, ipConfigurations: ipConfigurations?.map(ipConfigurationToWire) },
  };
}

function networkProfileToWire(profile: NetworkProfile): object {
  const { networkInterfaces, networkInterfaceConfigurations, ...rest } = profile;
  return {
    ...rest,
    networkInterfaces: networkInterfaces?.map(({ id, ...properties }) => ({ id, properties })),
    networkInterfaceConfigurations: networkInterfaceConfigurations?.map(interfaceConfigurationToWire),
  };
}

/** Fields that only the server sets. */
const computedFields = [
  'id',
  'name',
  'type',
  'systemData',
  'etag',
  'managedBy',
  'resources',
  'vmId',
  'timeCreated',
  'provisioningState',
  'instanceView',
];

/** The body of the PUT that would create this virtual machine. */
export function virtualMachineToWire(model: VirtualMachine): unknown {
  const { location, tags, zones, identity, plan, extendedLocation, placement, networkProfile, ...properties } = model;
  const body = {
    location,
    tags,
    zones,
    identity,
    plan,
    extendedLocation,
    placement,
    properties: {
      ...without(properties, ...computedFields),
      networkProfile: networkProfile === undefined ? undefined : networkProfileToWire(networkProfile),
    },
  };
  // As on the wire: fields that are undefined are not there.
  const wire: unknown = JSON.parse(JSON.stringify(body));
  return wire;
}
