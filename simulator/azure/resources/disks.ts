import type { AuditLog } from '../../auditLog.js';
import { auditNow } from '../../auditLog.js';
import type { AzureAuditEntry } from '../audit.js';
import { resourceKey } from './resourceNames.js';
import type { DeleteOption } from './virtualMachineBody.js';

export interface Disk {
  readonly resourceGroup: string;
  readonly name: string;
  readonly id: string;
  readonly deleteOption: DeleteOption;
}

/** The managed disks that exist. They are in the audit; their REST API is not simulated. */
export class Disks {
  readonly #disks = new Map<string, Disk>();

  constructor(private readonly audit: AuditLog<AzureAuditEntry>) {}

  create(disk: Disk): void {
    this.#disks.set(resourceKey(disk.resourceGroup, disk.name), disk);
    this.audit.append({ kind: 'resource', at: auditNow(), type: 'disk', name: disk.name, change: 'created' });
  }

  /** The virtual machine is gone: the disk goes with it, or stays, as its deleteOption says. */
  release(disk: Disk): void {
    if (disk.deleteOption === 'Detach') return;
    this.#disks.delete(resourceKey(disk.resourceGroup, disk.name));
    this.audit.append({ kind: 'resource', at: auditNow(), type: 'disk', name: disk.name, change: 'deleted' });
  }

  list(): readonly Disk[] {
    return [...this.#disks.values()];
  }
}
