import { afterEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';

import type { Accepted } from '../../activities/azure/virtualMachines.js';
import { VirtualMachines } from '../../activities/azure/virtualMachines.js';
import { readConfigMap } from '../../activities/kubernetes/configMaps.js';
import { readNodeClaim } from '../../activities/kubernetes/nodeClaims.js';
import { createArmLauncher } from '../../activities/launcher/arm/armLauncher.js';
import { getCondition, isTrue } from '../../karpenter/conditions.js';
import { replacementName } from '../../karpenter/replacement.js';
import type { AzureFault } from '../../simulator/azure/faults.js';
import type { LauncherWorld, WorldOptions } from '../support/launcherWorld.js';
import { armRequests, ownOffering, poolName, putCount, speed, startLauncherWorld } from '../support/launcherWorld.js';

let world: LauncherWorld;
afterEach(() => world.close());

const marksName = { namespace: 'kube-system', name: 'driftless-unavailable-offerings' };
const minuteMs = 60_000;

function refusal(code: string, message: string, status = 409): AzureFault {
  return { on: 'createVirtualMachine', then: { kind: 'requestFails', status, code, message } };
}

function quota(what: string, limit: number): string {
  return `Operation could not be completed as it results in exceeding approved ${what} quota. Additional details - Deployment Model: Resource Manager, Location: westus2, Current Limit: ${limit}, Current Usage: 56, Additional Required: 64, (Minimum) New Limit Required: 120.`;
}

async function start(options: WorldOptions): Promise<void> {
  world = await startLauncherWorld(options);
}

function create(change: Parameters<LauncherWorld['request']>[0] = {}): () => Promise<unknown> {
  return () => world.launcher.createReplacement(world.ref, world.request(change));
}

/** For how many minutes from now each key is marked. */
async function markedMinutes(): Promise<Readonly<Record<string, number>>> {
  const data = await readConfigMap(world.environment.kubernetes, marksName);
  return Object.fromEntries(
    Object.entries(data).map(([key, text]) => {
      const { until } = z.object({ until: z.string(), code: z.string() }).parse(JSON.parse(text));
      return [key, Math.round((Date.parse(until) - Date.now()) / minuteMs)];
    }),
  );
}

function replacement(attempt = 0): ReturnType<typeof readNodeClaim> {
  return readNodeClaim(world.environment.kubernetes, replacementName(poolName, world.old.metadata.uid, 0, attempt));
}

describe('a create that Azure refuses', () => {
  it('r061: a family’s quota is no conflict: the NodeClaim is marked failed at once, sizes of as many cores and more are left alone', async () => {
    const offering = { ...ownOffering, instanceType: 'Standard_D4as_v5' };
    await start({ offering, faults: [refusal('OperationNotAllowed', quota('standardDASv5Family Cores', 100))] });
    const failure = await world.failure(create());
    expect(failure).toMatchObject({
      type: 'LaunchFailed',
      nonRetryable: true,
      details: [{ code: 'OperationNotAllowed', anotherOffering: true }],
    });
    const marked = await replacement();
    expect(marked === undefined ? undefined : getCondition(marked, 'Launched')).toMatchObject({
      status: 'False',
      reason: 'OperationNotAllowed',
    });
    expect(await markedMinutes()).toEqual({ 'Standard_D4as_v5.any.on-demand': 10 });
    // The next offering, were it a bigger one of that family in another zone, is not even asked for.
    const bigger = { ...offering, instanceType: 'Standard_D8as_v5', zone: 'westus2-2' };
    expect(await world.failure(create({ attempt: 1, offering: bigger }))).toMatchObject({
      details: [{ code: 'OfferingUnavailable', anotherOffering: true }],
    });
    expect(putCount(world)).toBe(1);
    await world.attempt(create({ attempt: 2, offering: { ...offering, instanceType: 'Standard_D2as_v5' } }));
    expect(putCount(world)).toBe(2);
  });

  it('r063: SkuNotAvailable for spot is not tried again: another offering is, and spot of that size rests for an hour', async () => {
    const offering = { ...ownOffering, capacityType: 'spot' };
    await start({ offering, faults: [refusal('SkuNotAvailable', 'The requested VM size is not available.')] });
    expect(await world.failure(create())).toMatchObject({
      nonRetryable: true,
      details: [{ code: 'SkuNotAvailable', anotherOffering: true }],
    });
    expect(await markedMinutes()).toEqual({ 'Standard_D2as_v5.any.spot': 60 });
    expect(await world.failure(create({ attempt: 1 }))).toMatchObject({ details: [{ code: 'OfferingUnavailable' }] });
    expect(await replacement(1)).toBeUndefined();
    await world.attempt(create({ attempt: 2, offering: ownOffering }));
    expect(putCount(world)).toBe(2);
  });

  it('r060: a capacity error leaves nothing that anybody would wait for', async () => {
    await start({ faults: [refusal('AllocationFailed', 'no capacity')] });
    await world.failure(create());
    const failed = await replacement();
    expect(failed === undefined ? true : isTrue(failed, 'Launched')).toBe(false);
    expect(failed?.status?.providerID).toBeUndefined();
    const launchName = { round: 0, attempt: 0 };
    const removal = await world.attempt(() => world.launcher.beginRemoval(world.ref, launchName, false));
    if (removal.kind !== 'deleting') throw new Error(`the removal is ${removal.kind}`);
    await world.untilDone(() => world.launcher.followDeletion(world.ref, removal.deletion));
    expect(await replacement()).toBeUndefined();
    expect(world.azure.virtualMachines()).toEqual([]);
  });

  it('waits for a person when the quota of the whole region is used up, and marks nothing', async () => {
    await start({ faults: [refusal('OperationNotAllowed', quota('Total Regional Cores', 100))] });
    expect(await world.failure(create())).toMatchObject({
      details: [{ code: 'OperationNotAllowed', anotherOffering: false }],
    });
    expect(await markedMinutes()).toEqual({});
  });

  it('keeps a code that nobody has heard of, and reports it', async () => {
    await start({ faults: [refusal('CodeOfTomorrow', 'for a reason of tomorrow')] });
    expect(await world.failure(create())).toMatchObject({
      details: [{ code: 'CodeOfTomorrow', anotherOffering: false }],
    });
    expect(await replacement()).toMatchObject({
      status: { conditions: [{ type: 'Launched', status: 'False', reason: 'CodeOfTomorrow' }] },
    });
    expect(world.logs).toContainEqual(
      expect.objectContaining({ level: 'WARN', message: expect.stringContaining('not in the catalogue') }),
    );
  });

  it.each<[number, string]>([
    [429, 'OperationNotAllowed'],
    [500, 'InternalServerError'],
    [503, 'SkuNotAvailable'],
  ])('is tried again after a %s, whatever its code (%s)', async (status, code) => {
    await start({ faults: [refusal(code, quota('standardDASv5Family Cores', 0), status)] });
    expect(await world.failure(create())).toMatchObject({ type: 'Waiting' });
    await world.untilDone(create());
    expect(putCount(world)).toBe(2);
    expect(await markedMinutes()).toEqual({});
  });

  it('is refused by Azure itself where a size is restricted', async () => {
    await start({});
    const offering = { ...ownOffering, instanceType: 'Standard_E16s_v5' };
    expect(await world.failure(create({ offering }))).toMatchObject({ details: [{ code: 'SkuNotAvailable' }] });
    expect(await markedMinutes()).toEqual({ 'Standard_E16s_v5.any.on-demand': 23 * 60 });
  });
});

describe('a create that is tried again', () => {
  it('r072: a 429 on the look for the VM is not “not there”: no second PUT', async () => {
    await start({});
    await world.attempt(create());
    const throttled = { kind: 'requestFails', status: 429, code: 'OperationNotAllowed', message: 'too many' } as const;
    world.azure.addFault({ on: 'getVirtualMachine', count: 3, then: { ...throttled, retryAfterSeconds: 20 } });
    expect(await world.delayMs(create())).toBeGreaterThan(15_000 / speed);
    expect(await world.untilDone(create())).toMatchObject({ resumeToken: null });
    expect(armRequests(world, 'GET').filter(({ status }) => status === 429)).toHaveLength(3);
    expect(putCount(world)).toBe(1);
  });

  it('r073, r109: a VM whose PUT was not heard to succeed is adopted as it is', async () => {
    await start({ faults: [{ on: 'createVirtualMachine', then: { kind: 'lostResponse' } }] });
    expect(await world.failure(create())).toMatchObject({ type: 'Waiting' });
    const another = { ...ownOffering, zone: 'westus2-3' };
    const adopted = await world.attempt(create({ offering: another }));
    expect(adopted).toMatchObject({ resumeToken: null, offering: ownOffering });
    expect(putCount(world)).toBe(1);
    expect(world.azure.virtualMachines()).toHaveLength(1);
    expect(world.azure.networkInterfaces()).toHaveLength(1);
  });

  it('r109: goes on with the zone of the first try, as its NodeClaim says, whatever is asked for now', async () => {
    await start({ faults: [refusal('InternalServerError', 'try again', 500)] });
    expect(await world.failure(create())).toMatchObject({ type: 'Waiting' });
    const another = { ...ownOffering, zone: 'westus2-3' };
    const launch = await world.attempt(() =>
      world.launcher.createReplacement(world.ref, world.request({ offering: another })),
    );
    expect(launch.offering).toEqual(ownOffering);
    expect(await world.environment.virtualMachines.get(launch.virtualMachine)).toMatchObject({ zones: ['1'] });
    expect(world.azure.virtualMachines()).toHaveLength(1);
  });

  it('adopts a VM that its look did not show: the PUT that may only create is answered 412', async () => {
    await start({});
    await world.attempt(create());
    const notFound = { kind: 'requestFails', status: 404, code: 'ResourceNotFound', message: 'not found' } as const;
    world.azure.addFault({ on: 'getVirtualMachine', then: notFound });
    expect(await world.attempt(create())).toMatchObject({ resumeToken: null });
    expect(armRequests(world, 'PUT').map(({ status }) => status)).toEqual([201, 412]);
    expect(world.azure.virtualMachines()).toHaveLength(1);
    expect(await replacement()).toMatchObject({ status: { conditions: [{ type: 'Launched', status: 'True' }] } });
  });

  it.each([
    ['Conflict', 'another request is at work'],
    ['OperationNotAllowed', 'Operation is not allowed on the VM since another operation is in progress.'],
  ])('comes again after a 409 that is a conflict in time: %s', async (code, message) => {
    await start({ faults: [refusal(code, message)] });
    expect(await world.untilDone(create())).toMatchObject({ resumeToken: expect.any(String) });
    expect(armRequests(world, 'PUT').map(({ status }) => status)).toEqual([409, 201]);
    expect(world.azure.virtualMachines()).toHaveLength(1);
  });

  it('fails for good on a 409 that the same request will always meet', async () => {
    await start({ faults: [refusal('PropertyChangeNotAllowed', 'Changing property is not allowed.')] });
    expect(await world.failure(create())).toMatchObject({
      type: 'LaunchFailed',
      nonRetryable: true,
      details: [{ code: 'PropertyChangeNotAllowed', anotherOffering: false }],
    });
    expect(putCount(world)).toBe(1);
  });

  it('r074: sends the same body byte by byte, for the same NodeClaim', async () => {
    await start({ faults: [refusal('InternalServerError', 'try again', 500)] });
    const bodies: string[] = [];
    class Recording extends VirtualMachines {
      override beginCreate(...[name, model]: Parameters<VirtualMachines['beginCreate']>): Promise<Accepted> {
        bodies.push(JSON.stringify({ name, model }));
        return super.beginCreate(name, model);
      }
    }
    const virtualMachines = new Recording(world.arm);
    const launcher = createArmLauncher({ ...world.environment, virtualMachines });
    await world.untilDone(() => launcher.createReplacement(world.ref, world.request()));
    expect(bodies).toHaveLength(2);
    expect(bodies[1]).toBe(bodies[0]);
    expect(putCount(world)).toBe(2);
  });

  it('asks for what its pods ask for; an older workflow, that does not say, for what the old NodeClaim did', async () => {
    await start({});
    await world.attempt(create({ requests: { cpu: '850m', pods: '3' } }));
    expect(await replacement()).toMatchObject({ spec: { resources: { requests: { cpu: '850m', pods: '3' } } } });
    const { requests, ...older } = world.request({ attempt: 1 });
    expect(requests).toBeDefined();
    await world.attempt(() => world.launcher.createReplacement(world.ref, older));
    expect(await replacement(1)).toMatchObject({ spec: { resources: { requests: {} } } });
  });

  it('goes on with what it began, though the offering has been marked since', async () => {
    await start({ faults: [{ on: 'createVirtualMachine', then: { kind: 'lostResponse' } }] });
    await world.failure(create());
    const key = 'Standard_D2as_v5.any.any';
    const value = JSON.stringify({ until: '2999-01-01T00:00:00Z', code: 'AllocationFailed' });
    await world.environment.kubernetes.core.createNamespacedConfigMap({
      namespace: marksName.namespace,
      body: { metadata: { name: marksName.name }, data: { [key]: value } },
    });
    expect(await world.attempt(create())).toMatchObject({ resumeToken: null });
  });
});
