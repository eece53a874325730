import { describe, expect, it } from '@jest/globals';

import { ArmError } from '../../activities/azure/armError.js';
import type { ErrorClass } from '../../activities/azure/errorCatalogue.js';
import { classifyCode, classifyRefusal } from '../../activities/azure/errorCatalogue.js';

const byCode: readonly (readonly [string, ErrorClass])[] = [
  ['SkuNotAvailable', 'anotherOffering'],
  ['OperationNotAllowed', 'anotherOffering'],
  ['ZonalAllocationFailed', 'anotherOffering'],
  ['AllocationFailed', 'anotherOffering'],
  ['OverconstrainedZonalAllocationRequest', 'anotherOffering'],
  ['OverconstrainedAllocationRequest', 'anotherOffering'],
  ['InternalExecutionError', 'transient'],
  ['InternalOperationError', 'transient'],
  ['OSProvisioningInternalError', 'transient'],
  ['NicReservedForAnotherVm', 'transient'],
  ['OSProvisioningTimedOut', 'needsHuman'],
  ['OSProvisioningClientError', 'needsHuman'],
  ['VMExtensionProvisioningError', 'needsHuman'],
  ['SubnetIsFull', 'needsHuman'],
  ['ImageNotFound', 'needsHuman'],
  ['PropertyChangeNotAllowed', 'needsHuman'],
  ['RequestDisallowedByPolicy', 'needsHuman'],
  ['ScopeLocked', 'needsHuman'],
  ['ACodeOfTomorrow', 'needsHuman'],
  ['', 'needsHuman'],
];

describe('an operation that failed', () => {
  it.each(byCode)('with %s: %s', (code, expected) => {
    expect(classifyCode(code)).toBe(expected);
  });
});

describe('a refused create', () => {
  it.each(byCode)('with 409 and %s: %s', (code, expected) => {
    expect(classifyRefusal(new ArmError('refused', 409, code, undefined))).toBe(expected);
  });

  it.each<[number | undefined, string, ErrorClass]>([
    [undefined, '', 'transient'],
    [401, 'AuthenticationFailed', 'transient'],
    [408, '', 'transient'],
    [429, 'OperationNotAllowed', 'transient'],
    [500, 'InternalServerError', 'transient'],
    [503, 'SkuNotAvailable', 'transient'],
    [403, 'AuthorizationFailed', 'needsHuman'],
    [404, 'ResourceGroupNotFound', 'needsHuman'],
    [400, 'InvalidParameter', 'needsHuman'],
  ])('with status %s decides by the status before the code (%s): %s', (status, code, expected) => {
    expect(classifyRefusal(new ArmError('refused', status, code, undefined))).toBe(expected);
  });
});
