import type { AuditLog } from '../../auditLog.js';
import { auditNow } from '../../auditLog.js';
import type { AzureAuditEntry } from '../audit.js';
import type { SimulatedClock } from '../clock.js';
import { diskInUse } from '../protocol/armError.js';
import type { Operation, Operations } from '../protocol/operations.js';
import { resourceKey } from './resourceNames.js';
import type { DeleteOption } from './virtualMachineBody.js';

/** Simulated: how long a deletion takes, and how long its answers ask to wait. */
export const diskDeleteSeconds = 3;

export interface Disk {
  readonly resourceGroup: string;
  readonly name: string;
  readonly id: string;
  readonly deleteOption: DeleteOption;
  /** The id of the virtual machine that it is attached to. */
  virtualMachineId: string | undefined;
}

/** The managed disks that exist. */
export class Disks {
  readonly #disks = new Map<string, Disk>();

  constructor(
    private readonly clock: SimulatedClock,
    private readonly operations: Operations,
    private readonly audit: AuditLog<AzureAuditEntry>,
  ) {}

  create(disk: Disk): void {
    this.#disks.set(resourceKey(disk.resourceGroup, disk.name), disk);
    this.audit.append({ kind: 'resource', at: auditNow(), type: 'disk', name: disk.name, change: 'created' });
  }

  find(resourceGroup: string, name: string): Disk | undefined {
    return this.#disks.get(resourceKey(resourceGroup, name));
  }

  /** The virtual machine is gone: the disk goes with it, or stays, as its deleteOption says. */
  release(disk: Disk): void {
    disk.virtualMachineId = undefined;
    if (disk.deleteOption === 'Delete') this.#remove(disk);
  }

  /**
   * Deletes one by itself; it is gone when the operation has succeeded.
   * @throws ArmError 409 while it is attached
   */
  delete(disk: Disk): Operation {
    if (disk.virtualMachineId !== undefined) throw diskInUse(disk.name, disk.virtualMachineId);
    const operation = this.operations.start('Microsoft.Compute', disk.name);
    this.clock.after(diskDeleteSeconds * 1000, () => {
      this.#remove(disk);
      operation.outcome = { status: 'Succeeded', endTime: new Date().toISOString() };
    });
    return operation;
  }

  list(): readonly Disk[] {
    return [...this.#disks.values()];
  }

  #remove({ resourceGroup, name }: Disk): void {
    if (!this.#disks.delete(resourceKey(resourceGroup, name))) return;
    this.audit.append({ kind: 'resource', at: auditNow(), type: 'disk', name, change: 'deleted' });
  }
}
