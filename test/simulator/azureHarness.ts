import type { VirtualMachine } from '@azure/arm-compute';
import { ComputeManagementClient } from '@azure/arm-compute';
import type { TokenCredential } from '@azure/core-auth';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import { z } from 'zod';

import type { AzureAuditEntry } from '../../simulator/azure/audit.js';
import type { AzureSimulator, AzureSimulatorOptions } from '../../simulator/azure/azureSimulator.js';
import { startAzureSimulator } from '../../simulator/azure/azureSimulator.js';

export const subscriptionId = '11111111-2222-3333-4444-555555555555';
export const resourceGroup = 'MC_demo';
export const token = 'a-test-token';
export const apiVersion = '2026-03-01';
export const groupPath = `/subscriptions/${subscriptionId}/resourceGroups/${resourceGroup}/providers`;
export const computePath = `${groupPath}/Microsoft.Compute/virtualMachines`;
export const networkPath = `${groupPath}/Microsoft.Network/networkInterfaces`;

const simulators = new Set<AzureSimulator>();

/** Starts a simulator whose simulated minute takes 0.3 s; stopped by `stopSimulators`. */
export async function startSimulator(overrides: Partial<AzureSimulatorOptions> = {}): Promise<AzureSimulator> {
  const simulator = await startAzureSimulator({
    subscriptionId,
    resourceGroups: [resourceGroup, 'other'],
    location: 'westus2',
    token,
    speed: 200,
    vmCreateMs: 20_000,
    vmDeleteMs: 20_000,
    ...overrides,
  });
  simulators.add(simulator);
  return simulator;
}

/** For afterEach. */
export async function stopSimulators(): Promise<void> {
  for (const simulator of simulators) await simulator.close();
  simulators.clear();
}

/** The real SDK, without its own retries. */
export function sdkClient(simulator: AzureSimulator, bearer = token): ComputeManagementClient {
  const credential: TokenCredential = {
    getToken: () => Promise.resolve({ token: bearer, expiresOnTimestamp: Date.now() + 3_600_000 }),
  };
  return new ComputeManagementClient(credential, subscriptionId, {
    endpoint: simulator.endpoint,
    tlsOptions: { ca: simulator.caPem },
    retryOptions: { maxRetries: 0 },
  });
}

/** What a node's virtual machine looks like. */
export function nodeModel(name: string, overrides: Partial<VirtualMachine> = {}): VirtualMachine {
  const subnet = { id: `${groupPath}/Microsoft.Network/virtualNetworks/vnet/subnets/nodes` };
  return {
    location: 'westus2',
    zones: ['1'],
    tags: { 'karpenter.sh_nodepool': 'general-purpose' },
    hardwareProfile: { vmSize: 'Standard_D4s_v5' },
    storageProfile: {
      imageReference: { communityGalleryImageId: '/CommunityGalleries/aks/Images/ubuntu/Versions/1' },
      osDisk: { name, createOption: 'FromImage', deleteOption: 'Delete' },
    },
    osProfile: { computerName: name, adminUsername: 'azureuser', customData: 'Ym9vdHN0cmFw' },
    networkProfile: {
      networkApiVersion: '2022-11-01',
      networkInterfaceConfigurations: [
        {
          name: `${name}-nic`,
          primary: true,
          deleteOption: 'Delete',
          ipConfigurations: [{ name: 'ipconfig', subnet, primary: true }],
        },
      ],
    },
    ...overrides,
  };
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface RawOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Absent: the right one. Empty: none. */
  readonly bearer?: string;
}

/** Opens one request without the SDK: for what the SDK does not do, and for headers. */
export async function openRaw(
  simulator: AzureSimulator,
  pathOrUrl: string,
  { method = 'GET', headers = {}, body, bearer = token }: RawOptions = {},
): Promise<IncomingMessage> {
  const request = httpsRequest(new URL(pathOrUrl, simulator.endpoint), {
    method,
    ca: simulator.caPem,
    agent: false,
    headers: { ...headers, ...(bearer === '' ? {} : { authorization: `Bearer ${bearer}` }) },
  });
  request.end(body);
  return new Promise((resolve, reject) => {
    request.once('response', resolve);
    request.once('error', reject);
  });
}

/** One request without the SDK, read to its end. */
export async function raw(simulator: AzureSimulator, pathOrUrl: string, options: RawOptions = {}): Promise<RawAnswer> {
  const response = await openRaw(simulator, pathOrUrl, options);
  return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) };
}

export function header(answer: RawAnswer, name: string): string {
  const value = answer.headers[name];
  if (typeof value !== 'string') throw new Error(`the answer has no header ${name}`);
  return value;
}

const errorBody = z.strictObject({
  error: z.strictObject({
    code: z.string(),
    message: z.string(),
    target: z.string().optional(),
    details: z.array(z.looseObject({})).optional(),
  }),
});

/** The error of an answer that must have ARM's error shape. */
export function armErrorOf(answer: RawAnswer): z.infer<typeof errorBody>['error'] {
  return errorBody.parse(JSON.parse(answer.body)).error;
}

/** The entry that the predicate picks, now or when it is written. */
export async function auditEntry(
  simulator: AzureSimulator,
  isWanted: (entry: AzureAuditEntry) => boolean,
): Promise<AzureAuditEntry> {
  const existing = simulator.audit.entries.find(isWanted);
  if (existing !== undefined) return existing;
  return new Promise((resolve) => {
    const stop = simulator.audit.onAppend((entry) => {
      if (!isWanted(entry)) return;
      stop();
      resolve(entry);
    });
  });
}

/** Resolves when an operation on the virtual machine has come to that phase. */
export async function operationPhase(
  simulator: AzureSimulator,
  operation: 'create' | 'update' | 'delete',
  phase: 'succeeded' | 'failed' | 'canceled',
  virtualMachine = 'vm',
): Promise<AzureAuditEntry> {
  return auditEntry(
    simulator,
    (entry) =>
      entry.kind === 'operation' &&
      entry.operation === operation &&
      entry.phase === phase &&
      entry.virtualMachine === virtualMachine,
  );
}

/** What the promise rejects with; throws when it does not. */
export async function rejection(promise: PromiseLike<unknown>): Promise<unknown> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    return error;
  }
  throw new Error(`expected a rejection, not ${JSON.stringify(value)}`);
}

/** Resolves when the connection has been ended by the server, in whatever way. */
export async function connectionEnd(response: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    response.once('close', resolve);
    // A connection that is cut off ends with an error, too: close follows.
    response.on('error', () => undefined);
    response.resume();
  });
}
