import { diskNotFound, notSimulated } from '../protocol/armError.js';
import type { ArmAnswer, ArmRequest } from '../protocol/armRequest.js';
import { retryAfterHeaders } from '../protocol/responseHeaders.js';
import type { Disk } from '../resources/disks.js';
import { diskDeleteSeconds } from '../resources/disks.js';
import type { RequestContext, ResourceName } from './context.js';

function render(disk: Disk, location: string): object {
  const { id, name, virtualMachineId } = disk;
  return {
    id,
    name,
    type: 'Microsoft.Compute/disks',
    location,
    managedBy: virtualMachineId,
    properties: {
      provisioningState: 'Succeeded',
      diskState: virtualMachineId === undefined ? 'Unattached' : 'Attached',
    },
  };
}

function remove(context: RequestContext, request: ArmRequest, disk: Disk | undefined): ArmAnswer {
  if (disk === undefined) return { status: 204 };
  const operation = context.disks.delete(disk);
  return {
    status: 202,
    headers: {
      'azure-asyncoperation': context.operations.url(operation, request.origin, request.query.get('api-version') ?? ''),
      ...retryAfterHeaders(context.clock, diskDeleteSeconds),
    },
  };
}

/** GET and DELETE of one managed disk. @throws ArmError */
export function handleDisk(
  context: RequestContext,
  request: ArmRequest,
  { resourceGroup, name }: ResourceName,
): ArmAnswer {
  const disk = context.disks.find(resourceGroup, name);
  switch (request.method) {
    case 'GET':
      if (disk === undefined) throw diskNotFound(resourceGroup, name);
      return { status: 200, body: render(disk, context.location) };
    case 'DELETE':
      return remove(context, request, disk);
    default:
      throw notSimulated(`${request.method} on a disk`);
  }
}
