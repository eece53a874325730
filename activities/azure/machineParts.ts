import type { VirtualMachine } from '@azure/arm-compute';

import type { MachinePart } from '../../workflows/replacementTypes.js';

/** Where the parts of a VM are in ARM. Versions of these APIs that all regions know. */
export const partTypes: Readonly<Record<MachinePart['kind'], { readonly type: string; readonly apiVersion: string }>> =
  {
    networkInterface: { type: 'Microsoft.Network/networkInterfaces', apiVersion: '2023-11-01' },
    disk: { type: 'Microsoft.Compute/disks', apiVersion: '2023-10-02' },
  };

/** The name in a resource's id, when it is in the same resource group as the VM. */
function neighbourOf({ id: machineId }: VirtualMachine, id: string | undefined): string | undefined {
  const group = machineId?.toLowerCase().split('/providers/')[0];
  if (group === undefined || id?.toLowerCase().startsWith(`${group}/providers/`) !== true) return undefined;
  return id.split('/').at(-1);
}

/**
 * What was made with a VM and is of no use without it: the primary NIC and the OS disk. Data disks are volumes of pods, further NICs
 * somebody's own.
 * @param virtualMachine undefined when it is gone: then the parts have its name, as Karpenter's Azure provider and we give it
 */
export function partsOf(virtualMachine: VirtualMachine | undefined, name: string): readonly MachinePart[] {
  if (virtualMachine === undefined) {
    return [
      { kind: 'networkInterface', name },
      { kind: 'disk', name },
    ];
  }
  const { networkProfile, storageProfile } = virtualMachine;
  const networkInterfaces = networkProfile?.networkInterfaces ?? [];
  const only = networkInterfaces.length === 1 ? networkInterfaces[0] : undefined;
  const primary = networkInterfaces.find((one) => one.primary === true) ?? only;
  const networkInterface = neighbourOf(virtualMachine, primary?.id);
  const disk = neighbourOf(virtualMachine, storageProfile?.osDisk?.managedDisk?.id);
  return [
    ...(networkInterface === undefined ? [] : [{ kind: 'networkInterface' as const, name: networkInterface }]),
    ...(disk === undefined ? [] : [{ kind: 'disk' as const, name: disk }]),
  ];
}
