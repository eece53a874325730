import type { AzureFault } from '../../simulator/azure/faults.js';
import type { PlannedFault } from './plan.js';

type FaultBody = Pick<AzureFault, 'on' | 'then'>;
type RequestFails = Extract<AzureFault['then'], { kind: 'requestFails' }>;

function throttled(retryAfterSeconds?: number): RequestFails {
  return {
    kind: 'requestFails',
    status: 429,
    code: 'OperationNotAllowed',
    message: 'The server rejected the request because too many requests have been received for this subscription.',
    details: [{ code: 'TooManyRequests', target: 'HighCostGet30Min' }],
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  };
}

function fails(status: number, code: string): RequestFails {
  return { kind: 'requestFails', status, code, message: `injected: ${code}` };
}

/** What Azure does to us, by name: the names are what a run's line shows. */
const faults = {
  'put 429 with Retry-After': { on: 'createVirtualMachine', then: throttled(20) },
  'put 429': { on: 'createVirtualMachine', then: throttled() },
  'put 503': { on: 'createVirtualMachine', then: fails(503, 'ServiceUnavailable') },
  'put reset': { on: 'createVirtualMachine', then: { kind: 'reset' } },
  'put hangs': { on: 'createVirtualMachine', then: { kind: 'hang' } },
  'put answer lost': { on: 'createVirtualMachine', then: { kind: 'lostResponse' } },
  'put slow': { on: 'createVirtualMachine', then: { kind: 'delay', seconds: 20 } },
  'put SkuNotAvailable': { on: 'createVirtualMachine', then: fails(409, 'SkuNotAvailable') },
  'AllocationFailed late': {
    on: 'createVirtualMachine',
    then: { kind: 'operationFails', afterSeconds: 12, code: 'AllocationFailed', message: 'injected: no room' },
  },
  InternalExecutionError: {
    on: 'createVirtualMachine',
    then: { kind: 'operationFails', afterSeconds: 5, code: 'InternalExecutionError', message: 'injected: internal' },
  },
  'OSProvisioningTimedOut, comes up': {
    on: 'createVirtualMachine',
    then: {
      kind: 'operationFails',
      afterSeconds: 15,
      code: 'OSProvisioningTimedOut',
      message: 'injected: slow',
      machineStarts: true,
    },
  },
  'create canceled': { on: 'createVirtualMachine', then: { kind: 'operationCanceled', afterSeconds: 8 } },
  'VM vanishes': { on: 'createVirtualMachine', then: { kind: 'vanish', afterSeconds: 3 } },
  'create operation forgotten': { on: 'createVirtualMachine', then: { kind: 'operationGone' } },
  'poll 429 with Retry-After': { on: 'getOperation', then: throttled(30) },
  'poll 429': { on: 'getOperation', then: throttled() },
  'poll 500': { on: 'getOperation', then: fails(500, 'InternalServerError') },
  'poll 401': { on: 'getOperation', then: fails(401, 'ExpiredAuthenticationToken') },
  'poll reset': { on: 'getOperation', then: { kind: 'reset' } },
  'poll hangs': { on: 'getOperation', then: { kind: 'hang' } },
  'poll 404': { on: 'getOperation', then: { kind: 'operationGone' } },
  'get 429': { on: 'getVirtualMachine', then: throttled(10) },
  'get 500': { on: 'getVirtualMachine', then: fails(500, 'InternalServerError') },
  'get reset': { on: 'getVirtualMachine', then: { kind: 'reset' } },
  'delete 429 with Retry-After': { on: 'deleteVirtualMachine', then: throttled(20) },
  'delete refused': { on: 'deleteVirtualMachine', then: fails(409, 'OperationNotAllowed') },
  'delete 503': { on: 'deleteVirtualMachine', then: fails(503, 'ServiceUnavailable') },
  'delete answer lost': { on: 'deleteVirtualMachine', then: { kind: 'lostResponse' } },
  'delete hangs': { on: 'deleteVirtualMachine', then: { kind: 'hang' } },
  'delete operation fails': {
    on: 'deleteVirtualMachine',
    then: { kind: 'operationFails', afterSeconds: 5, code: 'InternalOperationError', message: 'injected: internal' },
  },
  'list 500': { on: 'listVirtualMachines', then: fails(500, 'InternalServerError') },
} as const satisfies Readonly<Record<string, FaultBody>>;

export type ArmFaultKind = keyof typeof faults;

function isKind(name: string): name is ArmFaultKind {
  return name in faults;
}

export const armFaultKinds: readonly ArmFaultKind[] = Object.keys(faults).filter(isKind);

export function armFault({ kind, after, count }: PlannedFault<ArmFaultKind>): AzureFault {
  return { ...faults[kind], after, count };
}
