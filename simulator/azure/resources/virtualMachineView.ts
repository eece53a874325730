import { without } from '../without.js';
import type { VirtualMachineRecord, VirtualMachineState } from './virtualMachineStore.js';

type ProvisioningState = 'Creating' | 'Updating' | 'Succeeded' | 'Failed' | 'Deleting';

interface InstanceViewStatus {
  readonly code: string;
  readonly level: 'Info' | 'Error';
  readonly displayStatus: string;
  readonly message?: string;
  readonly time?: string;
}

export function provisioningState(state: VirtualMachineState): ProvisioningState {
  switch (state.kind) {
    case 'creating':
      return 'Creating';
    case 'updating':
      return 'Updating';
    case 'succeeded':
      return 'Succeeded';
    case 'failed':
      return 'Failed';
    case 'deleting':
      return 'Deleting';
  }
}

function provisioningStatuses({ name, state }: VirtualMachineRecord): readonly InstanceViewStatus[] {
  switch (state.kind) {
    case 'creating':
      return [
        { code: 'ProvisioningState/creating', level: 'Info', displayStatus: 'Creating' },
        {
          code: 'ProvisioningState/creating/OSProvisioningInprogress',
          level: 'Info',
          displayStatus: 'OS Provisioning In progress',
          message: `OS Provisioning for VM '${name}' is in progress.`,
        },
      ];
    case 'updating':
      return [{ code: 'ProvisioningState/updating', level: 'Info', displayStatus: 'Updating' }];
    case 'succeeded':
      return [
        {
          code: 'ProvisioningState/succeeded',
          level: 'Info',
          displayStatus: 'Provisioning succeeded',
          time: state.at,
        },
      ];
    case 'failed':
      return [
        {
          code: `ProvisioningState/failed/${state.code}`,
          level: 'Error',
          displayStatus: 'Provisioning failed',
          message: state.message,
          time: state.at,
        },
      ];
    case 'deleting':
      return [{ code: 'ProvisioningState/deleting', level: 'Info', displayStatus: 'Deleting' }];
  }
}

/** A machine that never ran has no power state. */
function powerStatuses(record: VirtualMachineRecord, isRunning: boolean): readonly InstanceViewStatus[] {
  if (isRunning) return [{ code: 'PowerState/running', level: 'Info', displayStatus: 'VM running' }];
  return record.state.kind === 'deleting'
    ? [{ code: 'PowerState/stopped', level: 'Info', displayStatus: 'VM stopped' }]
    : [];
}

export function renderInstanceView(record: VirtualMachineRecord, isRunning: boolean): object {
  return {
    computerName: record.body.properties.osProfile?.['computerName'],
    hyperVGeneration: 'V2',
    statuses: [...provisioningStatuses(record), ...powerStatuses(record, isRunning)],
  };
}

/** As GET answers it: with what the server computes, without customData and other secrets. */
export function renderVirtualMachine(record: VirtualMachineRecord, instanceView?: object): object {
  const { name, id, vmId, timeCreated, body, osDisk, networkInterfaces } = record;
  const { properties, ...envelope } = body;
  const { networkProfile, storageProfile, osProfile } = properties;
  return {
    ...envelope,
    name,
    id,
    type: 'Microsoft.Compute/virtualMachines',
    etag: `"${record.revision}"`,
    properties: {
      ...without(properties, 'userData'),
      provisioningState: provisioningState(record.state),
      vmId,
      timeCreated,
      osProfile: osProfile === undefined ? undefined : without(osProfile, 'customData', 'adminPassword'),
      storageProfile: {
        ...storageProfile,
        osDisk: {
          ...storageProfile?.osDisk,
          name: osDisk.name,
          deleteOption: osDisk.deleteOption,
          managedDisk: { ...storageProfile?.osDisk?.managedDisk, id: osDisk.id },
        },
      },
      networkProfile: {
        ...without(networkProfile, 'networkInterfaceConfigurations'),
        networkInterfaces: networkInterfaces.map(({ id: interfaceId, primary, deleteOption }) => ({
          id: interfaceId,
          properties: { primary, deleteOption },
        })),
      },
      instanceView,
    },
  };
}
