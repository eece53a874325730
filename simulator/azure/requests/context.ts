import type { SimulatedClock } from '../clock.js';
import type { FaultPlan } from '../faultPlan.js';
import type { MachineFeed } from '../machineFeed.js';
import type { Operations } from '../protocol/operations.js';
import type { RateLimits } from '../protocol/rateLimits.js';
import type { Disks } from '../resources/disks.js';
import type { NetworkInterfaces } from '../resources/networkInterfaces.js';
import type { VirtualMachineLifecycle } from '../resources/virtualMachineLifecycle.js';
import type { VirtualMachineStore } from '../resources/virtualMachineStore.js';

/** All that the handlers of requests work with. */
export interface RequestContext {
  readonly location: string;
  /** Simulated seconds that writes and polls in progress ask for. */
  readonly retryAfterSeconds: number;
  readonly clock: SimulatedClock;
  readonly faults: FaultPlan;
  readonly operations: Operations;
  readonly rateLimits: RateLimits;
  readonly virtualMachines: VirtualMachineStore;
  readonly lifecycle: VirtualMachineLifecycle;
  readonly networkInterfaces: NetworkInterfaces;
  readonly disks: Disks;
  readonly machines: MachineFeed;
  /** The resource group as it is spelled where it was made. */
  readonly findResourceGroup: (name: string) => string | undefined;
}

export interface ResourceName {
  readonly resourceGroup: string;
  readonly name: string;
}
