import type { ArmError } from './armError.js';

/** What to do about an error of ARM on a create. */
export type ErrorClass =
  /** Nothing is decided: the same request again, later. */
  | 'transient'
  /** Another VM size, zone or capacity type may succeed. */
  | 'anotherOffering'
  /** The same everywhere until a person has done something. */
  | 'needsHuman';

/** Codes of failed creates for which another offering helps, synchronous and by the operation alike. */
const anotherOfferingCodes: ReadonlySet<string> = new Set([
  'SkuNotAvailable',
  'OperationNotAllowed',
  'ZonalAllocationFailed',
  'AllocationFailed',
  'OverconstrainedZonalAllocationRequest',
  'OverconstrainedAllocationRequest',
]);

/** Codes that say that Azure itself failed: the same request may succeed. */
const transientCodes: ReadonlySet<string> = new Set([
  'InternalExecutionError',
  'InternalOperationError',
  'OSProvisioningInternalError',
  'Conflict',
  'NicReservedForAnotherVm',
  // The VM was deleted under us, or was taken away.
  'OperationPreempted',
  'VirtualMachineNotFound',
]);

/** A create that ARM refused: the HTTP status decides first, since the same codes stand for throttling and for quota. */
export function classifyRefusal({ status, code }: ArmError): ErrorClass {
  if (status === undefined || status === 401 || status === 408 || status === 429 || status >= 500) return 'transient';
  return classifyCode(code);
}

/** A create whose operation failed. An unknown code is taken for one that a person has to look at. */
export function classifyCode(code: string): ErrorClass {
  if (transientCodes.has(code)) return 'transient';
  return anotherOfferingCodes.has(code) ? 'anotherOffering' : 'needsHuman';
}
