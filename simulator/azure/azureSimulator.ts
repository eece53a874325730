import type { VirtualMachine } from '@azure/arm-compute';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';

import { closerOf } from '../../runtime/closeServer.js';
import { AuditLog } from '../auditLog.js';
import { createServerCertificate } from '../certificates.js';
import type { ListenOptions } from '../listenOptions.js';
import { ArmService } from './armService.js';
import type { AzureAuditEntry } from './audit.js';
import { SimulatedClock } from './clock.js';
import { FaultPlan } from './faultPlan.js';
import type { AzureFault } from './faults.js';
import { MachineFeed } from './machineFeed.js';
import { Exchange } from './protocol/exchange.js';
import { Gateway } from './protocol/gateway.js';
import { Operations } from './protocol/operations.js';
import { RateLimits } from './protocol/rateLimits.js';
import type { RequestContext } from './requests/context.js';
import { Disks } from './resources/disks.js';
import { NetworkInterfaces } from './resources/networkInterfaces.js';
import { virtualMachineToWire } from './resources/sdkModel.js';
import { parseVirtualMachineBody, placeInRegion } from './resources/virtualMachineBody.js';
import { VirtualMachineLifecycle } from './resources/virtualMachineLifecycle.js';
import { VirtualMachineStore } from './resources/virtualMachineStore.js';
import { provisioningState } from './resources/virtualMachineView.js';
import { SimulatorService } from './simulatorService.js';

const defaultRetryAfterSeconds = 10;
/** Longer than clients keep idle connections, so that none writes into a closing one. */
const keepAliveTimeoutMs = 120_000;

export interface AzureSimulatorOptions extends ListenOptions {
  readonly subscriptionId: string;
  readonly resourceGroups: readonly string[];
  /** e.g. `westus2` */
  readonly location: string;
  /** The bearer token that is accepted. */
  readonly token: string;
  /** Divides every simulated duration and every Retry-After. */
  readonly speed: number;
  /** Simulated time that a virtual machine's creation takes. */
  readonly vmCreateMs: number;
  /** Simulated time that its deletion takes. */
  readonly vmDeleteMs: number;
  /** Simulated: what writes and the first read of an operation in progress ask for. Default 10. */
  readonly retryAfterSeconds?: number;
  readonly faults?: readonly AzureFault[];
}

export interface SimulatedVirtualMachine {
  readonly name: string;
  readonly resourceGroup: string;
  readonly provisioningState: ReturnType<typeof provisioningState>;
}

export interface SimulatedNetworkInterface {
  readonly name: string;
  readonly resourceGroup: string;
  readonly provisioningState: 'Succeeded' | 'Deleting';
  /** The id of the virtual machine that it is attached to. */
  readonly virtualMachineId: string | undefined;
}

export interface SimulatedDisk {
  readonly name: string;
  readonly resourceGroup: string;
}

/** A running simulator of ARM. */
export interface AzureSimulator {
  /** e.g. `https://127.0.0.1:40123` */
  readonly endpoint: string;
  /** What a client has to trust. */
  readonly caPem: string;
  readonly audit: AuditLog<AzureAuditEntry>;
  /**
   * A virtual machine that exists and runs at once, as if created long ago, with its network interfaces and disk.
   * @throws when its name is taken, or its resource group, location or size is unknown
   */
  seedVirtualMachine(resourceGroup: string, name: string, model: VirtualMachine): void;
  /** From now on. @throws when the fault could never happen */
  addFault(fault: AzureFault): void;
  /** What exists now. */
  virtualMachines(): readonly SimulatedVirtualMachine[];
  networkInterfaces(): readonly SimulatedNetworkInterface[];
  disks(): readonly SimulatedDisk[];
  /** Ends open connections, too, and whatever was still to happen. */
  close(): Promise<void>;
}

/**
 * Starts ARM, on loopback unless told otherwise, for as much of Microsoft.Compute and Microsoft.Network as a node's life needs.
 * @throws when the port is taken
 */
export async function startAzureSimulator(options: AzureSimulatorOptions): Promise<AzureSimulator> {
  const { host = '127.0.0.1', port = 0 } = options;
  const certificate = await createServerCertificate('Driftless Azure simulator', [host]);
  const world = createWorld(options);
  const server = createServer({ cert: certificate.certPem, key: certificate.keyPem });
  const closeServer = closerOf(server);
  server.keepAliveTimeout = keepAliveTimeoutMs;
  server.on('request', (incoming: IncomingMessage, response: ServerResponse) => {
    world.serve(incoming, response);
  });
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');

  async function shutDown(): Promise<void> {
    world.clock.close();
    await closeServer();
  }
  let closing: Promise<void> | undefined;

  return {
    endpoint: `https://${host}:${address.port}`,
    caPem: certificate.caPem,
    ...world.control,
    close() {
      closing ??= shutDown();
      return closing;
    },
  };
}

interface World {
  readonly clock: SimulatedClock;
  readonly control: Omit<AzureSimulator, 'endpoint' | 'caPem' | 'close'>;
  readonly serve: (incoming: IncomingMessage, response: ServerResponse) => void;
}

/** Puts the parts together: state, handlers, and the ways to look at and to disturb them. */
function createWorld(options: AzureSimulatorOptions): World {
  const { subscriptionId, token } = options;
  const location = options.location.toLowerCase();
  const audit = new AuditLog<AzureAuditEntry>();
  const clock = new SimulatedClock(options.speed);
  const faults = new FaultPlan();
  for (const fault of options.faults ?? []) faults.add(fault);
  const operations = new Operations(subscriptionId, location);
  const virtualMachines = new VirtualMachineStore();
  const networkInterfaces = new NetworkInterfaces(subscriptionId, clock, operations, audit);
  const disks = new Disks(clock, operations, audit);
  const machines = new MachineFeed(audit);
  const gateway = new Gateway({ subscriptionId, resourceGroups: options.resourceGroups, location, token });
  const parts = { clock, audit, operations, virtualMachines, networkInterfaces, disks, machines };
  const lifecycle = new VirtualMachineLifecycle(options, parts);
  const context: RequestContext = {
    ...parts,
    location,
    retryAfterSeconds: options.retryAfterSeconds ?? defaultRetryAfterSeconds,
    faults,
    rateLimits: new RateLimits(clock),
    lifecycle,
    findResourceGroup: (name) => gateway.findResourceGroup(name),
  };
  const arm = new ArmService(context, gateway);
  const simulator = new SimulatorService(token, audit, machines);

  return {
    clock,
    serve(incoming, response) {
      Exchange.read(incoming, response, audit, location).then(
        (exchange) => {
          if (simulator.isFor(exchange.request)) simulator.serve(exchange.request, response);
          else arm.serve(exchange);
        },
        // The client went away in the middle of its request: there is nobody to answer.
        () => response.destroy(),
      );
    },
    control: {
      audit,
      seedVirtualMachine(resourceGroup, name, model) {
        const group = gateway.findResourceGroup(resourceGroup);
        if (group === undefined) throw new Error(`unknown resource group ${resourceGroup}`);
        if (virtualMachines.find(group, name) !== undefined) throw new Error(`virtual machine ${name} exists already`);
        const body = placeInRegion(parseVirtualMachineBody(virtualMachineToWire(model)), location);
        lifecycle.seed({ resourceGroup: group, name, body });
      },
      addFault(fault) {
        faults.add(fault);
      },
      virtualMachines: () =>
        virtualMachines.list().map(({ name, resourceGroup, state }) => ({
          name,
          resourceGroup,
          provisioningState: provisioningState(state),
        })),
      networkInterfaces: () =>
        networkInterfaces.list().map(({ name, resourceGroup, provisioningState: state, virtualMachineId }) => ({
          name,
          resourceGroup,
          provisioningState: state,
          virtualMachineId,
        })),
      disks: () => disks.list().map(({ name, resourceGroup }) => ({ name, resourceGroup })),
    },
  };
}
