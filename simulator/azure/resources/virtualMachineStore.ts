import type { VirtualMachineOperation } from '../audit.js';
import type { Operation } from '../protocol/operations.js';
import type { Disk } from './disks.js';
import { inResourceGroup, resourceKey } from './resourceNames.js';
import type { DeleteOption, VirtualMachineBody } from './virtualMachineBody.js';

export type VirtualMachineState =
  | { readonly kind: 'creating' }
  | { readonly kind: 'updating' }
  | { readonly kind: 'succeeded'; readonly at: string }
  | { readonly kind: 'failed'; readonly at: string; readonly code: string; readonly message: string }
  | { readonly kind: 'deleting' };

export interface AttachedNetworkInterface {
  readonly id: string;
  readonly primary: boolean;
  readonly deleteOption: DeleteOption;
}

export interface RunningOperation {
  readonly kind: VirtualMachineOperation;
  readonly operation: Operation;
}

/** A virtual machine that exists. */
export interface VirtualMachineRecord {
  readonly sequence: number;
  readonly resourceGroup: string;
  readonly name: string;
  readonly id: string;
  readonly vmId: string;
  readonly timeCreated: string;
  readonly networkInterfaces: readonly AttachedNetworkInterface[];
  readonly osDisk: Disk;
  /** As it was put, with what the server fills in. */
  body: VirtualMachineBody;
  revision: number;
  state: VirtualMachineState;
  /** What runs on it now. */
  running: RunningOperation | undefined;
  /** How to call off what is still to come. */
  readonly pending: Set<() => void>;
}

/** The virtual machines that exist, in the order of their making. */
export class VirtualMachineStore {
  readonly #records = new Map<string, VirtualMachineRecord>();
  #lastSequence = 0;

  nextSequence(): number {
    this.#lastSequence += 1;
    return this.#lastSequence;
  }

  find(resourceGroup: string, name: string): VirtualMachineRecord | undefined {
    return this.#records.get(resourceKey(resourceGroup, name));
  }

  add(record: VirtualMachineRecord): void {
    this.#records.set(resourceKey(record.resourceGroup, record.name), record);
  }

  remove(record: VirtualMachineRecord): void {
    this.#records.delete(resourceKey(record.resourceGroup, record.name));
  }

  /** Those of one resource group, or all. */
  list(resourceGroup?: string): readonly VirtualMachineRecord[] {
    return inResourceGroup(this.#records.values(), resourceGroup);
  }
}
