import type { ResourceList, Taint } from '../../karpenter/api.js';
import {
  archLabel,
  hostnameLabel,
  instanceTypeLabel,
  osLabel,
  regionLabel,
  zoneLabel,
} from '../../karpenter/labels.js';
import { findVmSize } from '../azure/vmSizes.js';
import { parseBootstrap } from './bootstrap.js';
import type { Machine } from './machine.js';

const reservedCpuMillis = 100;
const reservedMemoryShare = 0.1;
const maxPods = '110';
const kibibytesInGiB = 1024 * 1024;

/** A Node as its kubelet registers it. */
export interface MachineNode {
  readonly labels: Record<string, string>;
  readonly taints: readonly Taint[];
  readonly capacity: ResourceList;
  readonly allocatable: ResourceList;
}

function resources(vmSize: string): Pick<MachineNode, 'capacity' | 'allocatable'> {
  const size = findVmSize(vmSize);
  if (size === undefined) throw new Error(`unknown VM size ${vmSize}`);
  const memoryKi = size.memoryGiB * kibibytesInGiB;
  return {
    capacity: { cpu: String(size.vCpus), memory: `${memoryKi}Ki`, pods: maxPods },
    allocatable: {
      cpu: `${size.vCpus * 1_000 - reservedCpuMillis}m`,
      memory: `${Math.floor(memoryKi * (1 - reservedMemoryShare))}Ki`,
      pods: maxPods,
    },
  };
}

/**
 * The Node of a machine, by its size and its bootstrap.
 * @throws when the size is unknown or the bootstrap is malformed
 */
export function machineNode(machine: Machine): MachineNode {
  const bootstrap = parseBootstrap(machine.customData);
  return {
    ...resources(machine.vmSize),
    labels: {
      [hostnameLabel]: machine.name,
      [osLabel]: 'linux',
      [archLabel]: 'amd64',
      [instanceTypeLabel]: machine.vmSize,
      [regionLabel]: machine.location,
      ...(machine.zone === undefined ? {} : { [zoneLabel]: machine.zone }),
      ...bootstrap.labels,
    },
    taints: bootstrap.taints,
  };
}
