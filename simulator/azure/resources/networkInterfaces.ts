import { randomUUID } from 'node:crypto';

import type { AuditLog } from '../../auditLog.js';
import { auditNow } from '../../auditLog.js';
import type { AzureAuditEntry } from '../audit.js';
import type { SimulatedClock } from '../clock.js';
import { ArmError, networkInterfaceInUse, networkInterfaceNotFound } from '../protocol/armError.js';
import type { Operation, Operations } from '../protocol/operations.js';
import { inResourceGroup, resourceKey } from './resourceNames.js';
import type { NetworkInterfaceConfiguration, NetworkInterfaceReference } from './virtualMachineBody.js';
import type { AttachedNetworkInterface } from './virtualMachineStore.js';

/** Simulated: how long a deletion takes, and how long its answers ask to wait. */
export const networkInterfaceDeleteSeconds = 4;

export interface NetworkInterface {
  readonly sequence: number;
  readonly resourceGroup: string;
  readonly name: string;
  readonly id: string;
  readonly resourceGuid: string;
  readonly tags: Readonly<Record<string, string>> | undefined;
  readonly configuration: NetworkInterfaceConfiguration['properties'];
  provisioningState: 'Succeeded' | 'Deleting';
  /** The id of the virtual machine that it is attached to. */
  virtualMachineId: string | undefined;
}

export interface NetworkInterfaceOwner {
  readonly resourceGroup: string;
  readonly virtualMachineId: string;
}

/** The network interfaces that exist. */
export class NetworkInterfaces {
  readonly #interfaces = new Map<string, NetworkInterface>();
  #lastSequence = 0;

  constructor(
    private readonly subscriptionId: string,
    private readonly clock: SimulatedClock,
    private readonly operations: Operations,
    private readonly audit: AuditLog<AzureAuditEntry>,
  ) {}

  find(resourceGroup: string, name: string): NetworkInterface | undefined {
    return this.#interfaces.get(resourceKey(resourceGroup, name));
  }

  /** Those of one resource group, or all. */
  list(resourceGroup?: string): readonly NetworkInterface[] {
    return inResourceGroup(this.#interfaces.values(), resourceGroup);
  }

  /** @throws ArmError when one of them is in use, or a referenced one does not exist */
  checkAttachable(
    resourceGroup: string,
    configurations: readonly NetworkInterfaceConfiguration[],
    references: readonly NetworkInterfaceReference[],
  ): void {
    for (const { name } of configurations) this.#checkFree(this.find(resourceGroup, name));
    for (const { id } of references) {
      const existing = this.#findById(id);
      if (existing === undefined) throw networkInterfaceNotFound(id);
      this.#checkFree(existing);
    }
  }

  /** Makes one network interface of that name for the configuration, or takes a free one, and attaches it. */
  attachConfigured(
    owner: NetworkInterfaceOwner,
    configuration: NetworkInterfaceConfiguration,
    isOnly: boolean,
  ): AttachedNetworkInterface {
    const { name, tags, properties } = configuration;
    const attached = this.find(owner.resourceGroup, name) ?? this.#create(owner.resourceGroup, name, tags, properties);
    attached.virtualMachineId = owner.virtualMachineId;
    return {
      id: attached.id,
      primary: properties.primary ?? isOnly,
      deleteOption: properties.deleteOption ?? 'Detach',
    };
  }

  /** Attaches one that exists; one that a seeded virtual machine refers to is made. */
  attachReferenced(
    owner: NetworkInterfaceOwner,
    reference: NetworkInterfaceReference,
    isOnly: boolean,
  ): AttachedNetworkInterface {
    const name = reference.id.split('/').at(-1) ?? reference.id;
    const attached =
      this.#findById(reference.id) ?? this.#create(owner.resourceGroup, name, undefined, { ipConfigurations: [] });
    attached.virtualMachineId = owner.virtualMachineId;
    return {
      id: attached.id,
      primary: reference.properties?.primary ?? isOnly,
      deleteOption: reference.properties?.deleteOption ?? 'Detach',
    };
  }

  /** The virtual machine is gone: its network interface goes with it, or stays, as its deleteOption says. */
  release(attached: AttachedNetworkInterface): void {
    const existing = this.#findById(attached.id);
    if (existing === undefined) return;
    existing.virtualMachineId = undefined;
    if (attached.deleteOption === 'Delete') this.#remove(existing);
  }

  /**
   * Deletes one by itself; it is gone when the operation has succeeded.
   * @throws ArmError 400 NicInUse while it is attached
   */
  delete(existing: NetworkInterface): Operation {
    if (existing.virtualMachineId !== undefined) throw networkInterfaceInUse(existing.id, existing.virtualMachineId);
    existing.provisioningState = 'Deleting';
    const operation = this.operations.start('Microsoft.Network', existing.name);
    this.clock.after(networkInterfaceDeleteSeconds * 1000, () => {
      this.#remove(existing);
      operation.outcome = { status: 'Succeeded', endTime: new Date().toISOString() };
    });
    return operation;
  }

  #create(
    resourceGroup: string,
    name: string,
    tags: NetworkInterface['tags'],
    configuration: NetworkInterface['configuration'],
  ): NetworkInterface {
    this.#lastSequence += 1;
    const created: NetworkInterface = {
      sequence: this.#lastSequence,
      resourceGroup,
      name,
      id: `/subscriptions/${this.subscriptionId}/resourceGroups/${resourceGroup}/providers/Microsoft.Network/networkInterfaces/${name}`,
      resourceGuid: randomUUID(),
      tags,
      configuration,
      provisioningState: 'Succeeded',
      virtualMachineId: undefined,
    };
    this.#interfaces.set(resourceKey(resourceGroup, name), created);
    this.audit.append({ kind: 'resource', at: auditNow(), type: 'networkInterface', name, change: 'created' });
    return created;
  }

  #remove({ resourceGroup, name }: NetworkInterface): void {
    this.#interfaces.delete(resourceKey(resourceGroup, name));
    this.audit.append({ kind: 'resource', at: auditNow(), type: 'networkInterface', name, change: 'deleted' });
  }

  #findById(id: string): NetworkInterface | undefined {
    const wanted = id.toLowerCase();
    const segments = wanted.split('/');
    const existing = this.find(segments[4] ?? '', segments[8] ?? '');
    return existing?.id.toLowerCase() === wanted ? existing : undefined;
  }

  #checkFree(existing: NetworkInterface | undefined): void {
    if (existing === undefined) return;
    if (existing.provisioningState === 'Deleting') {
      throw new ArmError(409, 'OperationNotAllowed', `Network interface ${existing.id} is marked for deletion.`);
    }
    if (existing.virtualMachineId !== undefined) throw networkInterfaceInUse(existing.id, existing.virtualMachineId);
  }
}
