import { isDeepStrictEqual } from 'node:util';

import { ArmError, notSimulated } from '../protocol/armError.js';
import type { VirtualMachineBody } from './virtualMachineBody.js';
import type { VirtualMachineRecord } from './virtualMachineStore.js';
import { renderVirtualMachine } from './virtualMachineView.js';

/** Azure never changes these. Under `properties`, except zones. */
const immutableFields = [
  'zones',
  'properties.priority',
  'properties.osProfile.computerName',
  'properties.osProfile.adminUsername',
  'properties.osProfile.adminPassword',
  'properties.osProfile.customData',
  'properties.osProfile.linuxConfiguration',
  'properties.storageProfile.imageReference',
  'properties.storageProfile.osDisk.name',
  'properties.storageProfile.osDisk.createOption',
  'properties.networkProfile.networkInterfaceConfigurations',
] as const;

/** Azure can change these; the simulator can't. */
const fixedFields = [
  'properties.hardwareProfile.vmSize',
  'properties.storageProfile.dataDisks',
  'properties.storageProfile.osDisk.deleteOption',
  'properties.networkProfile.networkInterfaces',
] as const;

function valueAt(object: unknown, path: string): unknown {
  let value = object;
  for (const field of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Reflect.get(value, field);
  }
  return value;
}

/**
 * What a PUT on an existing virtual machine makes of it: tags, identity and settings change, everything else has to be as it is or
 * left out.
 * @throws ArmError 409 PropertyChangeNotAllowed, or 501 for a change that Azure would make and the simulator does not
 */
export function updatedBody(record: VirtualMachineRecord, given: VirtualMachineBody): VirtualMachineBody {
  const view = renderVirtualMachine(record);
  const isChanged = (path: string): boolean => {
    const wanted = valueAt(given, path);
    if (wanted === undefined) return false;
    return !isDeepStrictEqual(wanted, valueAt(view, path) ?? valueAt(record.body, path));
  };
  for (const path of immutableFields) {
    if (!isChanged(path)) continue;
    const target = path.replace('properties.', '');
    throw new ArmError(409, 'PropertyChangeNotAllowed', `Changing property '${target}' is not allowed.`, { target });
  }
  for (const path of fixedFields) {
    if (isChanged(path)) throw notSimulated(`a change of ${path.replace('properties.', '')}`);
  }
  const { body } = record;
  const { hardwareProfile, storageProfile, osProfile, networkProfile } = body.properties;
  return {
    ...body,
    ...given,
    zones: body.zones,
    properties: {
      ...body.properties,
      ...given.properties,
      hardwareProfile,
      storageProfile,
      osProfile,
      networkProfile,
    },
  };
}
