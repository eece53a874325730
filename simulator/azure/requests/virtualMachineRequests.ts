import { ArmError, invalidParameter, notSimulated, virtualMachineNotFound } from '../protocol/armError.js';
import type { ArmAnswer, ArmRequest } from '../protocol/armRequest.js';
import { parseJsonBody } from '../protocol/armRequest.js';
import type { Operation } from '../protocol/operations.js';
import { listPage } from '../protocol/paging.js';
import { retryAfterHeaders } from '../protocol/responseHeaders.js';
import { checkNetworkProfile, parseVirtualMachineBody, placeInRegion } from '../resources/virtualMachineBody.js';
import type { VirtualMachineRecord } from '../resources/virtualMachineStore.js';
import { updatedBody } from '../resources/virtualMachineUpdate.js';
import { renderInstanceView, renderVirtualMachine } from '../resources/virtualMachineView.js';
import type { RequestContext, ResourceName } from './context.js';

const namePattern = /^[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9_])?$/i;

function findOrThrow(context: RequestContext, { resourceGroup, name }: ResourceName): VirtualMachineRecord {
  const record = context.virtualMachines.find(resourceGroup, name);
  if (record === undefined) throw virtualMachineNotFound(resourceGroup, name);
  return record;
}

/** What tells the client how to follow an operation: for a DELETE in two ways. */
function operationHeaders(
  context: RequestContext,
  request: ArmRequest,
  operation: Operation,
): Readonly<Record<string, string>> {
  if (operation.unnamed) return {};
  const url = context.operations.url(operation, request.origin, request.query.get('api-version') ?? '');
  return {
    'azure-asyncoperation': url,
    'azure-asyncnotification': 'Enabled',
    ...(request.method === 'DELETE' ? { location: `${url}&monitor=true` } : {}),
  };
}

/** Whether the answer has to carry the instance view. @throws ArmError 501 for what else can be expanded or filtered */
function wantsInstanceView(request: ArmRequest): boolean {
  for (const parameter of ['$filter', 'statusOnly']) {
    if (request.query.has(parameter)) throw notSimulated(`the query parameter ${parameter}`);
  }
  const expand = request.query.get('$expand');
  if (expand === null) return false;
  if (expand.toLowerCase() !== 'instanceview') throw notSimulated(`$expand=${expand}`);
  return true;
}

function render(context: RequestContext, record: VirtualMachineRecord, withInstanceView: boolean): object {
  if (!withInstanceView) return renderVirtualMachine(record);
  return renderVirtualMachine(record, renderInstanceView(record, context.machines.isRunning(record.vmId)));
}

function checkConditions(request: ArmRequest, existing: VirtualMachineRecord | undefined): void {
  const { 'if-none-match': ifNoneMatch, 'if-match': ifMatch } = request.headers;
  const isUnwanted = ifNoneMatch === '*' && existing !== undefined;
  const isAnother = ifMatch !== undefined && (existing === undefined || !matches(ifMatch, existing));
  if (!isUnwanted && !isAnother) return;
  throw new ArmError(
    412,
    'PreconditionFailed',
    'The precondition given in one or more of the request headers evaluated to false.',
  );
}

function matches(ifMatch: string, existing: VirtualMachineRecord): boolean {
  return ifMatch === '*' || ifMatch === `"${existing.revision}"`;
}

function put(context: RequestContext, request: ArmRequest, resource: ResourceName): ArmAnswer {
  const existing = context.virtualMachines.find(resource.resourceGroup, resource.name);
  checkConditions(request, existing);
  const body = placeInRegion(parseVirtualMachineBody(parseJsonBody(request)), context.location);
  checkNetworkProfile(body);
  return existing === undefined ? create(context, request, resource, body) : update(context, request, existing, body);
}

function create(
  context: RequestContext,
  request: ArmRequest,
  { resourceGroup, name }: ResourceName,
  body: ReturnType<typeof placeInRegion>,
): ArmAnswer {
  if (!namePattern.test(name)) throw invalidParameter('vmName', `The value ${name} is no valid name of a resource.`);
  const group = context.findResourceGroup(resourceGroup) ?? resourceGroup;
  const { networkInterfaceConfigurations = [], networkInterfaces = [] } = body.properties.networkProfile;
  context.networkInterfaces.checkAttachable(group, networkInterfaceConfigurations, networkInterfaces);
  const effect = context.faults.takeOperationEffect('createVirtualMachine', name);
  const { record, operation } = context.lifecycle.create({ resourceGroup: group, name, body }, effect);
  return {
    status: 201,
    body: renderVirtualMachine(record),
    headers: {
      ...operationHeaders(context, request, operation),
      ...retryAfterHeaders(context.clock, context.retryAfterSeconds),
      ...context.rateLimits.count('PutVM'),
    },
  };
}

function update(
  context: RequestContext,
  request: ArmRequest,
  existing: VirtualMachineRecord,
  body: ReturnType<typeof placeInRegion>,
): ArmAnswer {
  if (existing.state.kind === 'deleting') {
    throw new ArmError(
      409,
      'OperationNotAllowed',
      `Operation 'Create or Update VM' is not allowed on VM '${existing.name}' since the VM is marked for deletion. You can only retry the Delete operation (or wait for an ongoing one to complete).`,
    );
  }
  const next = updatedBody(existing, body);
  if (existing.running !== undefined) {
    throw new ArmError(
      409,
      'OperationNotAllowed',
      `Operation 'Create or Update VM' is not allowed on VM '${existing.name}' since another operation is in progress.`,
    );
  }
  const effect = context.faults.takeOperationEffect('createVirtualMachine', existing.name);
  const operation = context.lifecycle.update(existing, next, effect);
  return {
    status: 200,
    body: renderVirtualMachine(existing),
    headers: {
      ...operationHeaders(context, request, operation),
      ...context.rateLimits.count('PutVM'),
    },
  };
}

function remove(context: RequestContext, request: ArmRequest, { resourceGroup, name }: ResourceName): ArmAnswer {
  const rateLimit = context.rateLimits.count('DeleteVM');
  const existing = context.virtualMachines.find(resourceGroup, name);
  if (existing === undefined) return { status: 204, headers: rateLimit };
  const operation = existing.running?.kind === 'delete' ? existing.running.operation : startDelete(context, existing);
  return {
    status: 202,
    headers: {
      ...operationHeaders(context, request, operation),
      ...retryAfterHeaders(context.clock, context.retryAfterSeconds),
      ...rateLimit,
    },
  };
}

function startDelete(context: RequestContext, existing: VirtualMachineRecord): Operation {
  const effect = context.faults.takeOperationEffect('deleteVirtualMachine', existing.name);
  return context.lifecycle.delete(existing, effect);
}

/** PUT, GET and DELETE of one virtual machine. @throws ArmError */
export function handleVirtualMachine(context: RequestContext, request: ArmRequest, resource: ResourceName): ArmAnswer {
  switch (request.method) {
    case 'PUT':
      return put(context, request, resource);
    case 'GET':
      return {
        status: 200,
        body: render(context, findOrThrow(context, resource), wantsInstanceView(request)),
        headers: context.rateLimits.count('LowCostGet'),
      };
    case 'DELETE':
      return remove(context, request, resource);
    default:
      throw notSimulated(`${request.method} on a virtual machine`);
  }
}

/** GET of the instance view. @throws ArmError */
export function handleInstanceView(context: RequestContext, request: ArmRequest, resource: ResourceName): ArmAnswer {
  if (request.method !== 'GET') throw notSimulated(`${request.method} on an instance view`);
  const record = findOrThrow(context, resource);
  return {
    status: 200,
    body: renderInstanceView(record, context.machines.isRunning(record.vmId)),
    headers: context.rateLimits.count('LowCostGet'),
  };
}

/** The virtual machines of a resource group, or of the subscription, by pages. @throws ArmError */
export function handleVirtualMachineList(
  context: RequestContext,
  request: ArmRequest,
  resourceGroup: string | undefined,
): ArmAnswer {
  if (request.method !== 'GET') throw notSimulated(`${request.method} on a list of virtual machines`);
  const withInstanceView = wantsInstanceView(request);
  const records = context.virtualMachines.list(resourceGroup);
  return {
    status: 200,
    body: listPage(request, records, (record) => render(context, record, withInstanceView)),
    headers: context.rateLimits.count('HighCostGet'),
  };
}
