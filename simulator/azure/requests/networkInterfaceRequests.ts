import { networkInterfaceNotFound, notSimulated } from '../protocol/armError.js';
import type { ArmAnswer, ArmRequest } from '../protocol/armRequest.js';
import { listPage } from '../protocol/paging.js';
import { retryAfterHeaders } from '../protocol/responseHeaders.js';
import { networkInterfaceDeleteSeconds } from '../resources/networkInterfaces.js';
import { renderNetworkInterface } from '../resources/networkInterfaceView.js';
import type { RequestContext, ResourceName } from './context.js';

function remove(context: RequestContext, request: ArmRequest, { resourceGroup, name }: ResourceName): ArmAnswer {
  const existing = context.networkInterfaces.find(resourceGroup, name);
  if (existing === undefined) return { status: 204 };
  const operation = context.networkInterfaces.delete(existing);
  return {
    status: 202,
    headers: {
      location: context.operations.url(operation, request.origin, request.query.get('api-version') ?? ''),
      ...retryAfterHeaders(context.clock, networkInterfaceDeleteSeconds),
    },
  };
}

/** GET and DELETE of one network interface. @throws ArmError */
export function handleNetworkInterface(
  context: RequestContext,
  request: ArmRequest,
  resource: ResourceName,
): ArmAnswer {
  switch (request.method) {
    case 'GET': {
      const existing = context.networkInterfaces.find(resource.resourceGroup, resource.name);
      if (existing === undefined) throw networkInterfaceNotFound(request.path);
      return { status: 200, body: renderNetworkInterface(existing, context.location) };
    }
    case 'DELETE':
      return remove(context, request, resource);
    default:
      throw notSimulated(`${request.method} on a network interface`);
  }
}

/** The network interfaces of a resource group, or of the subscription, by pages. @throws ArmError */
export function handleNetworkInterfaceList(
  context: RequestContext,
  request: ArmRequest,
  resourceGroup: string | undefined,
): ArmAnswer {
  if (request.method !== 'GET') throw notSimulated(`${request.method} on a list of network interfaces`);
  const existing = context.networkInterfaces.list(resourceGroup);
  return {
    status: 200,
    body: listPage(request, existing, (one) => renderNetworkInterface(one, context.location)),
  };
}
