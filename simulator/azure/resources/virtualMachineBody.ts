import { z } from 'zod';

import { ArmError, invalidParameter } from '../protocol/armError.js';
import { findVmSize, isRestricted, zones } from '../vmSizes.js';

const tags = z.record(z.string(), z.string());
const deleteOption = z.enum(['Delete', 'Detach']);
export type DeleteOption = z.infer<typeof deleteOption>;

const subResource = z.looseObject({ id: z.string().min(1) });

const ipConfiguration = z.looseObject({
  name: z.string().min(1),
  properties: z.looseObject({ subnet: subResource, primary: z.boolean().optional() }),
});

const networkInterfaceConfiguration = z.looseObject({
  name: z.string().min(1),
  tags: tags.optional(),
  properties: z.looseObject({
    primary: z.boolean().optional(),
    deleteOption: deleteOption.optional(),
    ipConfigurations: z.array(ipConfiguration).min(1),
  }),
});
export type NetworkInterfaceConfiguration = z.infer<typeof networkInterfaceConfiguration>;

const networkInterfaceReference = z.looseObject({
  id: z.string().min(1),
  properties: z.looseObject({ primary: z.boolean().optional(), deleteOption: deleteOption.optional() }).optional(),
});
export type NetworkInterfaceReference = z.infer<typeof networkInterfaceReference>;

/** A virtual machine as a PUT carries it. Fields that are not named here are kept as they are. */
const virtualMachineBodySchema = z.looseObject({
  location: z.string().min(1),
  tags: tags.optional(),
  zones: z.array(z.string()).optional(),
  properties: z.looseObject({
    hardwareProfile: z.looseObject({ vmSize: z.string().min(1) }),
    storageProfile: z
      .looseObject({
        osDisk: z
          .looseObject({
            name: z.string().optional(),
            deleteOption: deleteOption.optional(),
            managedDisk: z.looseObject({}).optional(),
          })
          .optional(),
      })
      .optional(),
    osProfile: z.looseObject({ customData: z.string().optional() }).optional(),
    networkProfile: z.looseObject({
      networkApiVersion: z.string().optional(),
      networkInterfaces: z.array(networkInterfaceReference).optional(),
      networkInterfaceConfigurations: z.array(networkInterfaceConfiguration).optional(),
    }),
  }),
});
export type VirtualMachineBody = z.infer<typeof virtualMachineBodySchema>;

/** @throws ArmError 400 that names the first wrong field */
export function parseVirtualMachineBody(content: unknown): VirtualMachineBody {
  const parsed = virtualMachineBodySchema.safeParse(content, { reportInput: true });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field =
    issue?.path
      .map(String)
      .filter((part) => part !== 'properties')
      .join('.') ?? '';
  if (field === 'location' && issue?.input === undefined) {
    throw new ArmError(400, 'LocationRequired', 'The location property is required for this definition.');
  }
  throw issue?.input === undefined
    ? invalidParameter(field, `Required parameter '${field}' is missing (null).`)
    : invalidParameter(field, `The value of parameter ${field} is invalid: ${issue.message}`);
}

/**
 * The body with location and size spelled as the region spells them.
 * @throws ArmError 400 when the region does not have them, or not the zone; 409 when the subscription may not have the size there
 */
export function placeInRegion(body: VirtualMachineBody, region: string): VirtualMachineBody {
  const location = body.location.toLowerCase().replaceAll(' ', '');
  if (location !== region) {
    throw new ArmError(
      400,
      'LocationNotAvailableForResourceType',
      `The provided location '${body.location}' is not available for resource type 'Microsoft.Compute/virtualMachines'. List of available regions for the resource type is '${region}'.`,
    );
  }
  const { hardwareProfile } = body.properties;
  const size = findVmSize(hardwareProfile.vmSize);
  if (size === undefined) {
    throw invalidParameter('vmSize', `The value ${hardwareProfile.vmSize} provided for the VM size is not valid.`);
  }
  const [zone, ...others] = body.zones ?? [];
  if (others.length > 0 || (zone !== undefined && !zones.some((known) => known === zone))) {
    throw invalidParameter('zones', `The zones must be at most one of ${zones.join(', ')} in location '${region}'.`);
  }
  if (isRestricted(size, zone)) {
    throw new ArmError(
      409,
      'SkuNotAvailable',
      `The requested VM size '${size.name}' is currently not available in location '${region}'${zone === undefined ? '' : ` zone '${zone}'`} for subscription. Please try another size or deploy to a different location or different zone. See https://aka.ms/azureskunotavailable for details.`,
    );
  }
  const properties = { ...body.properties, hardwareProfile: { ...hardwareProfile, vmSize: size.name } };
  return { ...body, location, properties };
}

/** @throws ArmError 400 unless the virtual machine brings or names a network interface, in the way that the API version wants */
export function checkNetworkProfile({ properties }: VirtualMachineBody): void {
  const { networkInterfaces = [], networkInterfaceConfigurations = [], networkApiVersion } = properties.networkProfile;
  const all = [...networkInterfaces, ...networkInterfaceConfigurations];
  if (all.length === 0) {
    throw invalidParameter('networkProfile', 'Virtual machine must have at least one network interface.');
  }
  if (all.length > 1 && all.filter((one) => one.properties?.primary === true).length !== 1) {
    throw new ArmError(
      400,
      'VirtualMachineMustHaveOneNetworkInterfaceAsPrimary',
      'Virtual machine must have one network interface set as the primary.',
    );
  }
  if (networkInterfaceConfigurations.length > 0 && networkApiVersion === undefined) {
    const target = 'networkProfile.networkApiVersion';
    throw invalidParameter(target, `Required parameter '${target}' is missing (null).`);
  }
}
