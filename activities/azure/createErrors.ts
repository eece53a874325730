import type { UnavailableScope } from '../../karpenter/unavailableOfferings.js';

/** What to do about an error of ARM on a create. */
export type ErrorClass =
  /** Nothing is decided: the same request again, later. */
  | 'transient'
  /** Another VM size, zone or capacity type may succeed. */
  | 'anotherOffering'
  /** The same everywhere until a person has done something. */
  | 'needsHuman';

/** What is not to be asked for again, and for how long. */
export interface Unavailability {
  readonly scope: UnavailableScope;
  readonly onDemandMs: number;
  readonly spotMs: number;
}

/** One of Azure's errors on the create of a VM. */
export interface CreateError {
  readonly code: string;
  /** What the message has to say where one code stands for several things: the first entry that matches counts. */
  readonly says?: RegExp;
  /** Where Azure says it: in the answer to the PUT, or as the end of the operation. */
  readonly seenIn: 'answer' | 'operation';
  readonly errorClass: ErrorClass;
  readonly unavailable?: Unavailability;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

function unavailableFor(scope: UnavailableScope, onDemandMs: number, spotMs = onDemandMs): Unavailability {
  return { scope, onDemandMs, spotMs };
}

/**
 * The errors that are known. What is marked unavailable and for how long is what Karpenter's Azure provider does
 * (pkg/providers/instance/offerings).
 */
export const createErrors: readonly CreateError[] = [
  {
    code: 'SkuNotAvailable',
    seenIn: 'answer',
    errorClass: 'anotherOffering',
    unavailable: unavailableFor('capacityType', 23 * hourMs, hourMs),
  },
  // The quota of all cores of the region: only a person raises it. It is not a matter of the VM size.
  { code: 'OperationNotAllowed', says: /Total Regional Cores/i, seenIn: 'answer', errorClass: 'needsHuman' },
  {
    code: 'OperationNotAllowed',
    says: /LowPriorityCores/i,
    seenIn: 'answer',
    errorClass: 'anotherOffering',
    unavailable: unavailableFor('spot', hourMs),
  },
  // A family of which the subscription has no quota at all will not have any soon.
  {
    code: 'OperationNotAllowed',
    says: /Family Cores quota.*Current Limit: 0\b/is,
    seenIn: 'answer',
    errorClass: 'anotherOffering',
    unavailable: unavailableFor('capacityType', hourMs),
  },
  {
    code: 'OperationNotAllowed',
    says: /Family Cores quota/i,
    seenIn: 'answer',
    errorClass: 'anotherOffering',
    unavailable: unavailableFor('capacityType', 10 * minuteMs),
  },
  // No quota, but a conflict: something else is still happening to a VM of that name.
  {
    code: 'OperationNotAllowed',
    says: /marked for deletion|another operation is in progress/i,
    seenIn: 'answer',
    errorClass: 'transient',
  },
  {
    code: 'ZonalAllocationFailed',
    seenIn: 'operation',
    errorClass: 'anotherOffering',
    unavailable: unavailableFor('zone', hourMs),
  },
  {
    code: 'AllocationFailed',
    seenIn: 'operation',
    errorClass: 'anotherOffering',
    unavailable: unavailableFor('instanceType', hourMs),
  },
  {
    code: 'OverconstrainedZonalAllocationRequest',
    seenIn: 'operation',
    errorClass: 'anotherOffering',
    unavailable: unavailableFor('offering', hourMs),
  },
  {
    code: 'OverconstrainedAllocationRequest',
    seenIn: 'operation',
    errorClass: 'anotherOffering',
    unavailable: unavailableFor('capacityType', hourMs),
  },
  { code: 'InternalExecutionError', seenIn: 'operation', errorClass: 'transient' },
  { code: 'InternalOperationError', seenIn: 'operation', errorClass: 'transient' },
  // The network provider's, as the end of an operation.
  { code: 'InternalServerError', seenIn: 'operation', errorClass: 'transient' },
  { code: 'OSProvisioningInternalError', seenIn: 'operation', errorClass: 'transient' },
  // The VM was deleted under us, or was taken away.
  { code: 'OperationPreempted', seenIn: 'operation', errorClass: 'transient' },
  { code: 'VirtualMachineNotFound', seenIn: 'operation', errorClass: 'transient' },
  { code: 'Conflict', seenIn: 'answer', errorClass: 'transient' },
  { code: 'NicReservedForAnotherVm', seenIn: 'answer', errorClass: 'transient' },
  // A load balancer's pool has just gone.
  { code: 'InvalidResourceReference', seenIn: 'answer', errorClass: 'transient' },
  { code: 'OSProvisioningTimedOut', seenIn: 'operation', errorClass: 'needsHuman' },
  { code: 'OSProvisioningClientError', seenIn: 'operation', errorClass: 'needsHuman' },
  { code: 'VMExtensionProvisioningError', seenIn: 'operation', errorClass: 'needsHuman' },
  { code: 'VMExtensionProvisioningTimeout', seenIn: 'operation', errorClass: 'needsHuman' },
  { code: 'VMExtensionHandlerNonTransientError', seenIn: 'operation', errorClass: 'needsHuman' },
  { code: 'SubnetIsFull', seenIn: 'answer', errorClass: 'needsHuman' },
  { code: 'ImageNotFound', seenIn: 'answer', errorClass: 'needsHuman' },
  { code: 'GalleryImageNotFound', seenIn: 'answer', errorClass: 'needsHuman' },
  { code: 'PropertyChangeNotAllowed', seenIn: 'answer', errorClass: 'needsHuman' },
  { code: 'RequestDisallowedByPolicy', seenIn: 'answer', errorClass: 'needsHuman' },
  { code: 'ScopeLocked', seenIn: 'answer', errorClass: 'needsHuman' },
  { code: 'AuthorizationFailed', seenIn: 'answer', errorClass: 'needsHuman' },
];
