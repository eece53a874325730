import { afterEach, describe, expect, it } from '@jest/globals';

import { vmSizes } from '../../simulator/azure/vmSizes.js';
import {
  apiVersion,
  armErrorOf,
  computePath,
  groupPath,
  header,
  nodeModel,
  raw,
  rejection,
  resourceGroup,
  sdkClient,
  startSimulator,
  stopSimulators,
  subscriptionId,
} from './azureHarness.js';

afterEach(stopSimulators);

const version = `api-version=${apiVersion}`;

describe('what ARM checks first', () => {
  it('is the token, also for the SDK', async () => {
    const simulator = await startSimulator();
    const none = await raw(simulator, `${computePath}/vm?${version}`, { bearer: '' });
    expect(none.status).toBe(401);
    expect(armErrorOf(none).code).toBe('AuthenticationFailed');
    expect(header(none, 'www-authenticate')).toMatch(/^Bearer authorization_uri=/);
    const wrong = await rejection(sdkClient(simulator, 'another').virtualMachines.get(resourceGroup, 'vm'));
    expect(wrong).toMatchObject({ statusCode: 401, code: 'InvalidAuthenticationToken' });
    expect(JSON.stringify(simulator.audit.entries)).not.toContain('another');
  });

  it.each([
    ['no api-version', `${computePath}/vm`, 400, 'MissingApiVersionParameter'],
    ['a malformed api-version', `${computePath}/vm?api-version=latest`, 400, 'InvalidApiVersionParameter'],
    ['a too old api-version', `${computePath}/vm?api-version=2015-06-15`, 400, 'NoRegisteredProviderFound'],
    ['a preview api-version', `${computePath}/vm?api-version=2024-07-01-preview`, 400, 'NoRegisteredProviderFound'],
    [
      'another subscription',
      `/subscriptions/other/providers/Microsoft.Compute/skus?${version}`,
      404,
      'SubscriptionNotFound',
    ],
    [
      'another resource group',
      `/subscriptions/${subscriptionId}/resourceGroups/none/providers/Microsoft.Compute/virtualMachines?${version}`,
      404,
      'ResourceGroupNotFound',
    ],
    ['no ARM path', `/nowhere?${version}`, 404, 'InvalidResourcePath'],
    [
      'a resource that is not simulated',
      `${groupPath}/Microsoft.Compute/snapshots/d?${version}`,
      501,
      'NotImplemented',
    ],
    ['an expansion that is not simulated', `${computePath}?${version}&$expand=userData`, 501, 'NotImplemented'],
    ['a missing virtual machine', `${computePath}/vm?${version}`, 404, 'ResourceNotFound'],
  ])('answers %s with ARM’s error', async (_what, url, status, code) => {
    const simulator = await startSimulator();
    const answer = await raw(simulator, url);
    expect(answer.status).toBe(status);
    expect(armErrorOf(answer).code).toBe(code);
    expect(header(answer, 'x-ms-request-id')).not.toBe('');
  });

  it('says so when it does not know a method', async () => {
    const simulator = await startSimulator();
    simulator.seedVirtualMachine(resourceGroup, 'vm', nodeModel('vm'));
    const answer = await raw(simulator, `${computePath}/vm?${version}`, { method: 'PATCH', body: '{}' });
    expect(answer.status).toBe(501);
    expect(armErrorOf(answer).message).toContain('PATCH');
  });

  it('does not repeat a body that is no JSON', async () => {
    const simulator = await startSimulator();
    const answer = await raw(simulator, `${computePath}/vm?${version}`, { method: 'PUT', body: 'secret{' });
    expect(answer.status).toBe(400);
    expect(armErrorOf(answer).code).toBe('InvalidRequestContent');
    expect(answer.body).not.toContain('secret');
  });

  it('takes paths in any case', async () => {
    const simulator = await startSimulator();
    simulator.seedVirtualMachine(resourceGroup, 'vm', nodeModel('vm'));
    const answer = await raw(simulator, `${computePath.toUpperCase()}/VM?${version}`);
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body)).toMatchObject({ name: 'vm', id: `${computePath}/vm` });
  });
});

describe('operation URLs', () => {
  it('are refused when anything in their signature was changed', async () => {
    const simulator = await startSimulator();
    simulator.seedVirtualMachine(resourceGroup, 'vm', nodeModel('vm'));
    const accepted = await raw(simulator, `${computePath}/vm?${version}`, { method: 'DELETE' });
    const url = header(accepted, 'azure-asyncoperation');
    expect((await raw(simulator, url)).status).toBe(200);
    for (const name of ['p', 't', 'c', 's', 'h']) {
      const changed = new URL(url);
      changed.searchParams.set(name, `${changed.searchParams.get(name) ?? ''}0`);
      const refused = await raw(simulator, changed.href);
      expect([name, refused.status]).toEqual([name, 403]);
      changed.searchParams.delete(name);
      expect((await raw(simulator, changed.href)).status).toBe(403);
    }
  });

  it('carry the host by which the client knows the server', async () => {
    const simulator = await startSimulator();
    simulator.seedVirtualMachine(resourceGroup, 'vm', nodeModel('vm'));
    const named = simulator.endpoint.replace('127.0.0.1', 'localhost');
    const accepted = await raw(simulator, `${named}${computePath}/vm?${version}`, { method: 'DELETE' });
    expect(header(accepted, 'azure-asyncoperation').startsWith(named)).toBe(true);
  });
});

describe('the SKU list', () => {
  it('offers every size with what a kubelet has to know', async () => {
    const simulator = await startSimulator();
    const skus = [];
    for await (const sku of sdkClient(simulator).resourceSkus.list({ filter: "location eq 'westus2'" })) skus.push(sku);
    expect(skus.map(({ name }) => name)).toEqual(vmSizes.map(({ name }) => name));
    expect(skus[3]).toMatchObject({
      name: 'Standard_D4s_v5',
      resourceType: 'virtualMachines',
      family: 'standardDSv5Family',
      locationInfo: [{ location: 'westus2', zones: ['1', '2', '3'] }],
      capabilities: expect.arrayContaining([
        { name: 'vCPUs', value: '4' },
        { name: 'MemoryGB', value: '16' },
      ]),
      restrictions: [],
    });
  });

  it('is empty for another location', async () => {
    const simulator = await startSimulator();
    const page = await sdkClient(simulator).resourceSkus.list({ filter: "location eq 'eastus'" }).next();
    expect(page.done).toBe(true);
  });
});
