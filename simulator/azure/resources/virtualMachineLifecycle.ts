import { randomUUID } from 'node:crypto';

import type { AuditLog } from '../../auditLog.js';
import { auditNow } from '../../auditLog.js';
import type { AzureAuditEntry } from '../audit.js';
import type { SimulatedClock } from '../clock.js';
import type { OperationEffect } from '../faults.js';
import type { MachineFeed } from '../machineFeed.js';
import type { Operation, Operations } from '../protocol/operations.js';
import type { Disk, Disks } from './disks.js';
import type { NetworkInterfaceOwner, NetworkInterfaces } from './networkInterfaces.js';
import type { VirtualMachineBody } from './virtualMachineBody.js';
import { VirtualMachineOperations } from './virtualMachineOperations.js';
import type { AttachedNetworkInterface, VirtualMachineRecord, VirtualMachineStore } from './virtualMachineStore.js';

/** Simulated. */
const updateMs = 5_000;
/** The age of a virtual machine that a test or demo starts with. */
const seededAgeMs = 30 * 24 * 3_600_000;

export interface LifecycleOptions {
  readonly subscriptionId: string;
  readonly vmCreateMs: number;
  readonly vmDeleteMs: number;
}

export interface LifecycleParts {
  readonly clock: SimulatedClock;
  readonly audit: AuditLog<AzureAuditEntry>;
  readonly operations: Operations;
  readonly virtualMachines: VirtualMachineStore;
  readonly networkInterfaces: NetworkInterfaces;
  readonly disks: Disks;
  readonly machines: MachineFeed;
}

/** A virtual machine that is to be made: checked already. */
export interface VirtualMachineDraft {
  readonly resourceGroup: string;
  readonly name: string;
  readonly body: VirtualMachineBody;
}

/** What happens to a virtual machine from its making to its end, in simulated time. */
export class VirtualMachineLifecycle {
  readonly #operations: VirtualMachineOperations;

  constructor(
    private readonly options: LifecycleOptions,
    private readonly parts: LifecycleParts,
  ) {
    this.#operations = new VirtualMachineOperations(parts, {
      startMachine: (record) => {
        this.#startMachine(record);
      },
      vanish: (record) => {
        parts.machines.stop(record.vmId);
        this.#remove(record);
      },
    });
  }

  /** Makes it with its network interfaces and disk at once; the machine starts when the operation has succeeded. */
  create(
    draft: VirtualMachineDraft,
    effect: OperationEffect | undefined,
  ): { readonly record: VirtualMachineRecord; readonly operation: Operation } {
    const record = this.#make(draft, new Date());
    const succeed = (): void => {
      this.#succeed(record);
    };
    const work = { kind: 'create', durationMs: this.options.vmCreateMs, succeed } as const;
    return { record, operation: this.#operations.start(record, work, effect) };
  }

  /** One that has no running machine, because its creation failed, is started by an update. */
  update(record: VirtualMachineRecord, body: VirtualMachineBody, effect: OperationEffect | undefined): Operation {
    record.body = body;
    record.revision += 1;
    record.state = { kind: 'updating' };
    const durationMs = this.parts.machines.isRunning(record.vmId) ? updateMs : this.options.vmCreateMs;
    const succeed = (): void => {
      this.#succeed(record);
    };
    return this.#operations.start(record, { kind: 'update', durationMs, succeed }, effect);
  }

  /** Stops the machine now, preempts what runs on it, and removes everything when the operation has succeeded. */
  delete(record: VirtualMachineRecord, effect: OperationEffect | undefined): Operation {
    this.#operations.preempt(record);
    record.state = { kind: 'deleting' };
    this.parts.machines.stop(record.vmId);
    const succeed = (): void => {
      this.#remove(record);
    };
    const work = { kind: 'delete', durationMs: this.options.vmDeleteMs, succeed } as const;
    return this.#operations.start(record, work, effect);
  }

  /** It exists and runs from now on, as if created long ago. */
  seed(draft: VirtualMachineDraft): void {
    const record = this.#make(draft, new Date(Date.now() - seededAgeMs));
    this.#succeed(record);
  }

  #make({ resourceGroup, name, body }: VirtualMachineDraft, timeCreated: Date): VirtualMachineRecord {
    const { virtualMachines, disks, audit } = this.parts;
    const group = `/subscriptions/${this.options.subscriptionId}/resourceGroups/${resourceGroup}`;
    const id = `${group}/providers/Microsoft.Compute/virtualMachines/${name}`;
    const vmId = randomUUID();
    audit.append({ kind: 'resource', at: auditNow(), type: 'virtualMachine', name, change: 'created' });
    const owner = { resourceGroup, virtualMachineId: id };
    const { storageProfile } = body.properties;
    const diskName = storageProfile?.osDisk?.name ?? `${name}_OsDisk_1_${vmId.replaceAll('-', '')}`;
    const osDisk: Disk = {
      resourceGroup,
      name: diskName,
      id: `${group}/providers/Microsoft.Compute/disks/${diskName}`,
      deleteOption: storageProfile?.osDisk?.deleteOption ?? 'Detach',
      virtualMachineId: id,
    };
    const record: VirtualMachineRecord = {
      sequence: virtualMachines.nextSequence(),
      resourceGroup,
      name,
      id,
      vmId,
      timeCreated: timeCreated.toISOString(),
      networkInterfaces: this.#attach(owner, body),
      osDisk,
      body,
      revision: 1,
      state: { kind: 'creating' },
      running: undefined,
      pending: new Set(),
    };
    disks.create(osDisk);
    virtualMachines.add(record);
    return record;
  }

  #attach(owner: NetworkInterfaceOwner, { properties }: VirtualMachineBody): readonly AttachedNetworkInterface[] {
    const { networkInterfaceConfigurations = [], networkInterfaces: references = [] } = properties.networkProfile;
    const { networkInterfaces } = this.parts;
    const isOnly = networkInterfaceConfigurations.length + references.length === 1;
    return [
      ...networkInterfaceConfigurations.map((one) => networkInterfaces.attachConfigured(owner, one, isOnly)),
      ...references.map((one) => networkInterfaces.attachReferenced(owner, one, isOnly)),
    ];
  }

  #succeed(record: VirtualMachineRecord): void {
    record.state = { kind: 'succeeded', at: new Date().toISOString() };
    this.#startMachine(record);
  }

  #startMachine(record: VirtualMachineRecord): void {
    const { location, zones, tags, properties } = record.body;
    const zone = zones?.[0];
    this.parts.machines.start({
      name: record.name,
      resourceId: record.id,
      vmId: record.vmId,
      location,
      zone: zone === undefined ? undefined : `${location}-${zone}`,
      vmSize: properties.hardwareProfile.vmSize,
      tags: tags ?? {},
      customData: properties.osProfile?.customData,
    });
  }

  #remove(record: VirtualMachineRecord): void {
    const { virtualMachines, networkInterfaces, disks, audit } = this.parts;
    virtualMachines.remove(record);
    audit.append({
      kind: 'resource',
      at: auditNow(),
      type: 'virtualMachine',
      name: record.name,
      change: 'deleted',
    });
    for (const attached of record.networkInterfaces) networkInterfaces.release(attached);
    disks.release(record.osDisk);
  }
}
