import { describe, expect, it } from '@jest/globals';

import { ArmError } from '../../activities/azure/armError.js';
import type { ErrorClass } from '../../activities/azure/createErrors.js';
import { createErrors } from '../../activities/azure/createErrors.js';
import { assessError, assessRefusal } from '../../activities/azure/errorCatalogue.js';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

function quota(what: string, limit: number): string {
  return `Operation could not be completed as it results in exceeding approved ${what} quota. Additional details - Deployment Model: Resource Manager, Location: eastus, Current Limit: ${limit}, Current Usage: 56, Additional Required: 64, (Minimum) New Limit Required: 120.`;
}

function refused(status: number | undefined, code: string, azureMessage = ''): ArmError {
  return new ArmError(`create VM a: ${code}`, status, code, undefined, azureMessage);
}

interface Meaning {
  readonly code: string;
  readonly message?: string;
  readonly errorClass: ErrorClass;
  /** Scope, and how long for on-demand and spot. */
  readonly unavailable?: readonly [string, number, number];
}

const meanings: readonly Meaning[] = [
  {
    code: 'SkuNotAvailable',
    errorClass: 'anotherOffering',
    unavailable: ['capacityType', 23 * hourMs, hourMs],
  },
  {
    code: 'OperationNotAllowed',
    message: quota('standardDASv5Family Cores', 100),
    errorClass: 'anotherOffering',
    unavailable: ['capacityType', 10 * minuteMs, 10 * minuteMs],
  },
  {
    code: 'OperationNotAllowed',
    message: quota('standardDASv5Family Cores', 0),
    errorClass: 'anotherOffering',
    unavailable: ['capacityType', hourMs, hourMs],
  },
  {
    code: 'OperationNotAllowed',
    message: quota('LowPriorityCores', 10),
    errorClass: 'anotherOffering',
    unavailable: ['spot', hourMs, hourMs],
  },
  { code: 'OperationNotAllowed', message: quota('Total Regional Cores', 100), errorClass: 'needsHuman' },
  {
    code: 'OperationNotAllowed',
    message: "Operation 'Create or Update VM' is not allowed on VM 'a' since the VM is marked for deletion.",
    errorClass: 'transient',
  },
  { code: 'ZonalAllocationFailed', errorClass: 'anotherOffering', unavailable: ['zone', hourMs, hourMs] },
  { code: 'AllocationFailed', errorClass: 'anotherOffering', unavailable: ['instanceType', hourMs, hourMs] },
  {
    code: 'OverconstrainedZonalAllocationRequest',
    errorClass: 'anotherOffering',
    unavailable: ['offering', hourMs, hourMs],
  },
  {
    code: 'OverconstrainedAllocationRequest',
    errorClass: 'anotherOffering',
    unavailable: ['capacityType', hourMs, hourMs],
  },
  { code: 'InternalExecutionError', errorClass: 'transient' },
  { code: 'InternalOperationError', errorClass: 'transient' },
  { code: 'InternalServerError', errorClass: 'transient' },
  { code: 'OSProvisioningInternalError', errorClass: 'transient' },
  { code: 'OperationPreempted', errorClass: 'transient' },
  { code: 'NicReservedForAnotherVm', errorClass: 'transient' },
  { code: 'InvalidResourceReference', errorClass: 'transient' },
  { code: 'OSProvisioningTimedOut', errorClass: 'needsHuman' },
  { code: 'OSProvisioningClientError', errorClass: 'needsHuman' },
  { code: 'VMExtensionProvisioningError', errorClass: 'needsHuman' },
  { code: 'SubnetIsFull', errorClass: 'needsHuman' },
  { code: 'ImageNotFound', errorClass: 'needsHuman' },
  { code: 'PropertyChangeNotAllowed', errorClass: 'needsHuman' },
  { code: 'RequestDisallowedByPolicy', errorClass: 'needsHuman' },
  { code: 'ScopeLocked', errorClass: 'needsHuman' },
];

function expected({ errorClass, unavailable }: Meaning): object {
  if (unavailable === undefined) return { errorClass, isKnown: true };
  const [scope, onDemandMs, spotMs] = unavailable;
  return { errorClass, isKnown: true, unavailable: { scope, onDemandMs, spotMs } };
}

describe('an error of Azure on a create', () => {
  it.each(meanings)('$code $message: $errorClass, as the end of an operation and as a 409 alike', (meaning) => {
    const { code, message = '' } = meaning;
    expect(assessError(code, message)).toEqual(expected(meaning));
    expect(assessRefusal(refused(409, code, message))).toEqual(expected(meaning));
  });

  it.each([
    ['ACodeOfTomorrow', ''],
    ['', ''],
    ['OperationNotAllowed', 'for a reason of tomorrow'],
  ])('that is unknown (%s %s) waits for a person, and is to be reported', (code, message) => {
    expect(assessError(code, message)).toEqual({ errorClass: 'needsHuman', isKnown: false });
  });

  it.each<[number | undefined, string]>([
    [undefined, ''],
    [401, 'AuthenticationFailed'],
    [408, ''],
    [429, 'OperationNotAllowed'],
    [500, 'InternalServerError'],
    [503, 'SkuNotAvailable'],
  ])('is transient by its status %s, whatever its code (%s)', (status, code) => {
    const message = quota('standardDASv5Family Cores', 0);
    expect(assessRefusal(refused(status, code, message))).toEqual({ errorClass: 'transient', isKnown: true });
  });

  it.each([
    [403, 'AuthorizationFailed'],
    [404, 'ResourceGroupNotFound'],
    [400, 'InvalidParameter'],
  ])('with status %s is judged by its code (%s)', (status, code) => {
    expect(assessRefusal(refused(status, code))).toMatchObject({ errorClass: 'needsHuman' });
  });

  it('marks something unavailable only where another offering helps', () => {
    for (const { errorClass, unavailable } of createErrors) {
      expect(unavailable !== undefined).toBe(errorClass === 'anotherOffering');
    }
  });
});
