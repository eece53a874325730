import { restorePoller } from '@azure/arm-compute';
import type { VirtualMachine } from '@azure/arm-compute';
import { z } from 'zod';

import type { TaggedMachine } from '../../karpenter/orphan.js';
import type { MachinePart } from '../../workflows/replacementTypes.js';
import { refuse } from '../environment.js';
import type { ArmSettings } from './armClient.js';
import { ArmClient } from './armClient.js';
import { partTypes } from './machineParts.js';
import type { Capture } from './responseCapture.js';
import { isNotFound } from './responseCapture.js';

/** Our mark on a VM, and the NodeClaim that it was made for. Tags must not contain a slash. */
export const ownerTag = 'driftless.dev_owner';
export const nodeClaimTag = 'driftless.dev_nodeclaim';

/** What one look at an operation says. */
export type OperationState =
  | { readonly kind: 'running'; readonly retryAfterMs: number | undefined }
  | { readonly kind: 'succeeded' }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }
  /** ARM no longer knows the operation: the VM itself has to tell. */
  | { readonly kind: 'forgotten' };

/** A change that ARM has accepted, and its operation. */
export interface Accepted {
  /** null: there is no operation to follow; the VM itself has to tell. */
  readonly resumeToken: string | null;
  /** When Azure wants the operation to be read for the first time, in milliseconds from the answer on. */
  readonly retryAfterMs?: number | undefined;
}

/** An answer that names no operation gives a token of the SDK's that cannot be restored, or that follows something else. */
async function followable(poller: { serialize(): Promise<string> }, { last }: Capture): Promise<Accepted> {
  if (last?.namesOperation !== true) return { resumeToken: null };
  return { resumeToken: await poller.serialize(), retryAfterMs: last.retryAfterMs };
}

const resumeTokenSchema = z.object({
  state: z.object({ config: z.object({ operationLocation: z.string(), initialRequestUrl: z.string().optional() }) }),
});

/** The VMs of one resource group, through the Azure SDK. Nothing here waits for an operation, and nothing is tried twice. */
export class VirtualMachines {
  readonly #arm: ArmClient;

  constructor(private readonly settings: ArmSettings) {
    this.#arm = new ArmClient(settings);
  }

  get location(): string {
    return this.settings.location;
  }

  resourceId(name: string): string {
    return this.#idOf('Microsoft.Compute/virtualMachines', name);
  }

  #partId({ kind, name }: MachinePart): string {
    return this.#idOf(partTypes[kind].type, name);
  }

  #idOf(type: string, name: string): string {
    const { subscriptionId, resourceGroup } = this.settings;
    return `/subscriptions/${subscriptionId}/resourceGroups/${resourceGroup}/providers/${type}/${name}`;
  }

  /** The providerID of the Node that a VM becomes. */
  providerId(name: string): string {
    return `azure://${this.resourceId(name)}`;
  }

  /** The name in a providerID, when it is a VM of this resource group: ARM ids are case-insensitive. */
  nameOf(providerId: string): string | undefined {
    const prefix = this.providerId('');
    const name = providerId.slice(prefix.length);
    const isOurs = providerId.toLowerCase().startsWith(prefix.toLowerCase());
    return isOurs && name !== '' && !name.includes('/') ? name : undefined;
  }

  /** The VM with its instance view, or undefined when there is none of that name. */
  async get(name: string): Promise<VirtualMachine | undefined> {
    const { resourceGroup } = this.settings;
    return await this.#arm.call('readVirtualMachine', `read VM ${name}`, async (sdk, signal, capture) => {
      try {
        return await sdk.virtualMachines.get(resourceGroup, name, {
          expand: 'instanceView',
          abortSignal: signal,
        });
      } catch (error) {
        if (isNotFound(capture)) return undefined;
        throw error;
      }
    });
  }

  /** Begins to create a VM, unless there is one of that name; answers as soon as ARM has accepted it. */
  async beginCreate(name: string, model: VirtualMachine): Promise<Accepted> {
    const { resourceGroup, checkMayChange } = this.settings;
    checkMayChange?.();
    return await this.#arm.call('createVirtualMachine', `create VM ${name}`, async (sdk, signal, capture) => {
      try {
        const options = { ifNoneMatch: '*', abortSignal: signal };
        const poller = sdk.virtualMachines.createOrUpdate(resourceGroup, name, model, options);
        await poller.submitted();
        return await followable(poller, capture);
      } catch (error) {
        if (capture.last?.status === 412) return { resumeToken: null };
        throw error;
      }
    });
  }

  /** Begins to delete a VM; one that is gone already is as good as accepted. */
  async beginDelete(name: string): Promise<Accepted> {
    const { resourceGroup, checkMayChange } = this.settings;
    checkMayChange?.();
    return await this.#arm.call('deleteVirtualMachine', `delete VM ${name}`, async (sdk, signal, capture) => {
      try {
        const poller = sdk.virtualMachines.delete(resourceGroup, name, { abortSignal: signal });
        await poller.submitted();
        return await followable(poller, capture);
      } catch (error) {
        if (isNotFound(capture)) return { resumeToken: null };
        throw error;
      }
    });
  }

  /** Whether a NIC or disk is there. */
  async hasPart(part: MachinePart): Promise<boolean> {
    const { apiVersion } = partTypes[part.kind];
    return await this.#arm.send('readPart', `read ${part.kind} ${part.name}`, 'GET', this.#partId(part), apiVersion);
  }

  /** Begins to delete a NIC or disk; Azure refuses it while it belongs to a VM. */
  async beginDeletePart(part: MachinePart): Promise<void> {
    this.settings.checkMayChange?.();
    const { apiVersion } = partTypes[part.kind];
    await this.#arm.send('deletePart', `delete ${part.kind} ${part.name}`, 'DELETE', this.#partId(part), apiVersion);
  }

  /** All VMs of the resource group, with the marks in their tags. */
  async list(): Promise<readonly TaggedMachine[]> {
    const { resourceGroup } = this.settings;
    return await this.#arm.call('list', 'list VMs', async (sdk, signal) => {
      const machines: TaggedMachine[] = [];
      for await (const { name, tags, timeCreated } of sdk.virtualMachines.list(resourceGroup, {
        abortSignal: signal,
      })) {
        if (name === undefined) continue;
        const { [ownerTag]: owner, [nodeClaimTag]: nodeClaim } = tags ?? {};
        machines.push({ name, owner, nodeClaim, createdAt: timeCreated?.toISOString() });
      }
      return machines;
    });
  }

  /**
   * One look at the operation of a resume token.
   * @throws ApplicationFailure when the token does not lead to our endpoint
   */
  async look(resumeToken: string): Promise<OperationState> {
    this.#checkOrigin(resumeToken);
    return await this.#arm.call('readOperation', 'read an operation', async (sdk, signal, capture) => {
      try {
        const createOrUpdate = sdk.virtualMachines.createOrUpdate.bind(sdk);
        const poller = restorePoller(sdk, resumeToken, createOrUpdate, { abortSignal: signal });
        await poller.poll({ abortSignal: signal });
        if (poller.isDone) return { kind: 'succeeded' };
        return { kind: 'running', retryAfterMs: capture.last?.retryAfterMs };
      } catch (error) {
        const operation = capture.last;
        if (operation?.status === 404) return { kind: 'forgotten' };
        const hasEnded = operation?.status === 200 && ['Failed', 'Canceled'].includes(operation.operationStatus ?? '');
        if (!hasEnded) throw error;
        const { code, message } = operation.error ?? { code: '', message: '' };
        return { kind: 'failed', code: code === '' ? 'OperationFailed' : code, message };
      }
    });
  }

  /** The SDK sends our bearer token to whatever host a resume token names: only ever to our endpoint. */
  #checkOrigin(resumeToken: string): void {
    const { operationLocation, initialRequestUrl } = resumeTokenSchema.parse(JSON.parse(resumeToken)).state.config;
    const { origin } = new URL(this.settings.endpoint);
    for (const url of [operationLocation, initialRequestUrl]) {
      if (url !== undefined && new URL(url, origin).origin !== origin) {
        refuse(`a resume token names another host than ${origin}`);
      }
    }
  }
}
