import type { FaultPoint } from '../faults.js';
import type { ArmAnswer, ArmRequest } from '../protocol/armRequest.js';
import type { Route } from '../protocol/routes.js';
import type { RequestContext } from './context.js';
import { handleDisk } from './diskRequests.js';
import { handleNetworkInterface, handleNetworkInterfaceList } from './networkInterfaceRequests.js';
import { handleOperation, handleOperationResult } from './operationRequests.js';
import { handleSkus } from './skuRequests.js';
import { handleInstanceView, handleVirtualMachine, handleVirtualMachineList } from './virtualMachineRequests.js';

/** Does what the request asks for. @throws ArmError */
export function dispatch(context: RequestContext, request: ArmRequest, route: Route): ArmAnswer {
  switch (route.kind) {
    case 'virtualMachine':
      return handleVirtualMachine(context, request, route);
    case 'instanceView':
      return handleInstanceView(context, request, route);
    case 'virtualMachines':
      return handleVirtualMachineList(context, request, route.resourceGroup);
    case 'operation':
      return handleOperation(context, request, route.operationId);
    case 'operationResult':
      return handleOperationResult(context, request, route.operationId);
    case 'networkInterface':
      return handleNetworkInterface(context, request, route);
    case 'networkInterfaces':
      return handleNetworkInterfaceList(context, request, route.resourceGroup);
    case 'disk':
      return handleDisk(context, request, route);
    case 'skus':
      return handleSkus(context, request);
  }
}

/** The name of the virtual machine that a request is about. */
export function virtualMachineOf(context: RequestContext, route: Route): string | undefined {
  switch (route.kind) {
    case 'virtualMachine':
    case 'instanceView':
      return route.name;
    case 'operation':
      return context.operations.find(route.operationId)?.subject;
    case 'virtualMachines':
    case 'operationResult':
    case 'networkInterface':
    case 'networkInterfaces':
    case 'disk':
    case 'skus':
      return undefined;
  }
}

/** The name by which a fault chooses its requests. */
export function faultNameOf(context: RequestContext, route: Route): string | undefined {
  return route.kind === 'networkInterface' || route.kind === 'disk' ? route.name : virtualMachineOf(context, route);
}

function virtualMachineFaultPoint(method: string): FaultPoint | undefined {
  switch (method) {
    case 'PUT':
      return 'createVirtualMachine';
    case 'GET':
      return 'getVirtualMachine';
    case 'DELETE':
      return 'deleteVirtualMachine';
    default:
      return undefined;
  }
}

/** Where faults can meet a request; undefined where none can. */
export function faultPointOf(request: ArmRequest, route: Route): FaultPoint | undefined {
  switch (route.kind) {
    case 'virtualMachine':
      return virtualMachineFaultPoint(request.method);
    case 'instanceView':
      return 'getVirtualMachine';
    case 'virtualMachines':
      return 'listVirtualMachines';
    case 'operation':
      return 'getOperation';
    case 'networkInterface':
      return request.method === 'DELETE' ? 'deleteNetworkInterface' : undefined;
    case 'disk':
      return request.method === 'DELETE' ? 'deleteDisk' : undefined;
    case 'operationResult':
    case 'networkInterfaces':
    case 'skus':
      return undefined;
  }
}
