/** The inner errors of ARM's error shape. */
export interface ArmErrorDetail {
  readonly code: string;
  readonly message?: string | undefined;
  readonly target?: string | undefined;
}

interface ArmErrorExtras {
  readonly target?: string;
  readonly details?: readonly ArmErrorDetail[] | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer with ARM's error shape. Thrown by whatever handles a request. */
export class ArmError extends Error {
  override readonly name = 'ArmError';

  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly extras: ArmErrorExtras = {},
  ) {
    super(message);
  }

  /** `{error: {code, message, target?, details?}}` */
  get body(): object {
    const { target, details } = this.extras;
    return { error: { code: this.code, message: this.message, target, details } };
  }
}

/** Answers that ARM itself gives, before a resource provider is asked. */
export const gatewayHeaders = { 'x-ms-failure-cause': 'gateway' } as const;

/** A 4xx that ARM itself gives. */
export function gatewayError(status: number, code: string, message: string): ArmError {
  return new ArmError(status, code, message, { headers: gatewayHeaders });
}

function resourceNotFound(resource: string, resourceGroup: string): ArmError {
  return gatewayError(
    404,
    'ResourceNotFound',
    `The Resource '${resource}' under resource group '${resourceGroup}' was not found. For more details please go to https://aka.ms/ARMResourceNotFoundFix`,
  );
}

export function virtualMachineNotFound(resourceGroup: string, name: string): ArmError {
  return resourceNotFound(`Microsoft.Compute/virtualMachines/${name}`, resourceGroup);
}

export function diskNotFound(resourceGroup: string, name: string): ArmError {
  return resourceNotFound(`Microsoft.Compute/disks/${name}`, resourceGroup);
}

export function diskInUse(name: string, virtualMachineId: string): ArmError {
  return new ArmError(409, 'OperationNotAllowed', `Disk ${name} is attached to VM ${virtualMachineId}.`);
}

export function networkInterfaceNotFound(id: string): ArmError {
  return new ArmError(404, 'NotFound', `Resource ${id} not found.`);
}

export function networkInterfaceInUse(id: string, virtualMachineId: string): ArmError {
  return new ArmError(
    400,
    'NicInUse',
    `Network Interface ${id} is used by existing resource ${virtualMachineId}. In order to delete the network interface, it must be dissociated from the resource. To learn more, see aka.ms/deletenic.`,
  );
}

export function invalidParameter(target: string, message: string): ArmError {
  return new ArmError(400, 'InvalidParameter', message, { target });
}

/** For what real ARM can do and the simulator does not: said instead of a wrong answer. */
export function notSimulated(what: string): ArmError {
  return new ArmError(501, 'NotImplemented', `The simulator does not implement ${what}.`);
}
