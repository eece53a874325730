import { afterEach, describe, expect, it } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';

import { VirtualMachines } from '../../activities/azure/virtualMachines.js';
import { readNodeClaim } from '../../activities/kubernetes/nodeClaims.js';
import { createArmLauncher } from '../../activities/launcher/arm/armLauncher.js';
import { getCondition } from '../../karpenter/conditions.js';
import type { AzureFault } from '../../simulator/azure/faults.js';
import type { Launch } from '../../workflows/replacementTypes.js';
import { createNode } from '../simulator/behaviourHarness.js';
import { eventually } from '../support/eventually.js';
import type { LauncherWorld, WorldOptions } from '../support/launcherWorld.js';
import { armRequests, operationReads, putCount, speed, startLauncherWorld } from '../support/launcherWorld.js';

let world: LauncherWorld;
afterEach(() => world.close());

type Effect = AzureFault['then'];

const requestTimeoutMs = 400;
/** Long after Azure's Retry-After. */
const longAgoMs = 1_000;
const tooMany = { kind: 'requestFails', status: 429, code: 'OperationNotAllowed', message: 'too many' } as const;

async function launched(options: WorldOptions = {}): Promise<Launch> {
  world = await startLauncherWorld(options);
  return await world.attempt(() => world.launcher.createReplacement(world.ref, world.request()));
}

function poll(launch: Launch): () => Promise<void> {
  return () => world.launcher.pollLaunch(world.ref, launch);
}

async function join(launch: Launch): Promise<void> {
  await createNode(world.cluster, launch.virtualMachine, { providerID: launch.providerId });
}

/** Nothing was said about the launch, and nothing was done to it. */
async function expectUntouched(launch: Launch): Promise<void> {
  const nodeClaim = await readNodeClaim(world.cluster.api, launch.nodeClaim);
  expect(nodeClaim === undefined ? undefined : getCondition(nodeClaim, 'Launched')?.status).toBe('True');
  expect(nodeClaim?.metadata.deletionTimestamp).toBeUndefined();
  expect(putCount(world)).toBe(1);
  expect(armRequests(world, 'DELETE')).toEqual([]);
}

/** A read of an operation that failed, and then one that did not. */
async function readAgain(launch: Launch): Promise<void> {
  await join(launch);
  await world.untilDone(poll(launch));
  await expectUntouched(launch);
  expect(world.azure.virtualMachines()).toMatchObject([{ provisioningState: 'Succeeded' }]);
}

describe('a read of an operation that fails', () => {
  it.each<[string, number, Effect]>([
    ['r102: 429, five times, while the operation succeeds', 5, tooMany],
    ['429 with Retry-After', 2, { ...tooMany, retryAfterSeconds: 20 }],
    ['500', 3, { kind: 'requestFails', status: 500, code: 'InternalServerError', message: 'try again' }],
    ['503', 3, { kind: 'requestFails', status: 503, code: 'ServiceUnavailable', message: 'try again' }],
    ['r093: a connection that is reset', 3, { kind: 'reset' }],
    ['a hung connection', 1, { kind: 'hang' }],
    [
      'r099: an expired token',
      1,
      { kind: 'requestFails', status: 401, code: 'ExpiredAuthenticationToken', message: '' },
    ],
    ['a gateway’s 403', 1, { kind: 'requestFails', status: 403, code: 'AuthorizationFailed', message: 'not yet' }],
  ])('says nothing about the operation: %s', async (_, count, then) => {
    const launch = await launched({ requestTimeoutMs });
    world.azure.addFault({ on: 'getOperation', count, then });
    expect(await world.failure(poll(launch), longAgoMs)).toMatchObject({ type: 'Waiting' });
    await expectUntouched(launch);
    await readAgain(launch);
    expect(operationReads(world).filter(({ status }) => status !== 200)).toHaveLength(count);
  });

  it('r093: nor does the end of the worker that makes it', async () => {
    const launch = await launched({ requestTimeoutMs });
    world.azure.addFault({ on: 'getOperation', then: { kind: 'hang' } });
    const info = { scheduledTimestampMs: Date.now() - longAgoMs, scheduleToCloseTimeoutMs: 60_000 };
    const lastAttempt = new MockActivityEnvironment(info, { logger: new DefaultLogger('ERROR') });
    const end = lastAttempt.run(poll(launch)).catch((error: unknown) => error);
    await eventually(() => {
      expect(operationReads(world)).toHaveLength(1);
    });
    lastAttempt.cancel('WORKER_SHUTDOWN');
    expect(await end).toMatchObject({ type: 'Waiting' });
    await expectUntouched(launch);
    await readAgain(launch);
  });

  it('r099: is repeated with a new token when the old one is not taken any more', async () => {
    const launch = await launched();
    const good = world.arm.createCredential();
    const credentials = [{ getToken: () => Promise.resolve({ token: 'old', expiresOnTimestamp: Infinity }) }, good];
    const virtualMachines = new VirtualMachines({
      ...world.arm,
      createCredential: () => credentials.shift() ?? good,
    });
    const launcher = createArmLauncher({ ...world.environment, virtualMachines });
    const pollAsBefore = (): Promise<void> => launcher.pollLaunch(world.ref, launch);
    expect(await world.failure(pollAsBefore, longAgoMs)).toMatchObject({
      type: 'Waiting',
      message: expect.stringContaining('InvalidAuthenticationToken'),
    });
    expect(credentials).toEqual([]);
    await join(launch);
    await world.untilDone(pollAsBefore);
    expect(operationReads(world).filter(({ status }) => status === 401)).toHaveLength(1);
    await expectUntouched(launch);
  });

  it('r127: at the launch deadline fails the launch, marked as such', async () => {
    const launch = await launched();
    world.azure.addFault({ on: 'getOperation', count: 100, then: { kind: 'reset' } });
    expect(await world.failure(poll(launch), 59_990)).toMatchObject({
      type: 'LaunchFailed',
      details: [
        { code: 'LaunchTimeout', message: expect.stringContaining('could not be read'), anotherOffering: false },
      ],
    });
    const nodeClaim = await readNodeClaim(world.cluster.api, launch.nodeClaim);
    expect(nodeClaim === undefined ? undefined : getCondition(nodeClaim, 'Launched')).toMatchObject({
      status: 'False',
      reason: 'LaunchTimeout',
    });
  });
});

describe('when an operation is read', () => {
  it('r095: is not before Azure’s first Retry-After, and a 404 then is no verdict', async () => {
    const launch = await launched({ retryAfterSeconds: 40 });
    const delayMs = await world.delayMs(poll(launch));
    expect(delayMs).toBeGreaterThan(30_000 / speed);
    expect(delayMs).toBeLessThanOrEqual(40_000 / speed);
    expect(operationReads(world)).toEqual([]);
    world.azure.addFault({
      on: 'getOperation',
      count: 2,
      then: { kind: 'requestFails', status: 404, code: 'NotFound', message: 'not yet' },
    });
    for (let read = 1; read <= 2; read += 1) {
      expect(await world.failure(poll(launch), longAgoMs)).toMatchObject({ type: 'Waiting' });
      expect(operationReads(world)).toHaveLength(read);
    }
    await readAgain(launch);
  });

  it('r095: nor is that of a DELETE', async () => {
    const launch = await launched({ retryAfterSeconds: 40 });
    const removal = await world.attempt(() => world.launcher.beginRemoval(world.ref, { round: 0, attempt: 0 }, false));
    if (removal.kind !== 'deleting') throw new Error(`the removal is ${removal.kind}`);
    const follow = (): Promise<void> => world.launcher.followDeletion(world.ref, removal.deletion);
    expect(await world.failure(follow)).toMatchObject({ type: 'Waiting' });
    expect(operationReads(world)).toEqual([]);
    await world.untilDone(follow);
    expect(operationReads(world)).not.toEqual([]);
    expect(await readNodeClaim(world.cluster.api, launch.nodeClaim)).toBeUndefined();
  });

  it('r096: is at our own interval where only the first answer has said when', async () => {
    const launch = await launched({ retryAfterSeconds: 20, vmCreateMs: 100_000 });
    const delays: number[] = [];
    for (let read = 0; read < 3; read += 1) delays.push(await world.delayMs(poll(launch), longAgoMs));
    expect(delays).toEqual([20_000 / speed, 10_000 / speed, 10_000 / speed]);
  });

  it('r096: finds the success within one interval', async () => {
    const launch = await launched({ retryAfterSeconds: 20, vmCreateMs: 100_000 });
    await join(launch);
    await world.untilDone(poll(launch));
    const end = world.azure.audit.entries.find((entry) => entry.kind === 'operation' && entry.phase === 'succeeded');
    const reads = operationReads(world).filter(({ at }) => at > (end?.at ?? 0));
    // One read may have been under way at that instant.
    expect(reads.length).toBeGreaterThan(0);
    expect(reads.length).toBeLessThanOrEqual(2);
  });
});

describe('a PUT whose answer names no operation', () => {
  const unnamed: AzureFault = { on: 'createVirtualMachine', then: { kind: 'operationUnnamed' } };

  it('r098: is followed by the VM’s own state', async () => {
    const launch = await launched({ faults: [unnamed], vmCreateMs: 40_000 });
    expect(launch.resumeToken).toBeNull();
    expect(await world.failure(poll(launch))).toMatchObject({
      type: 'Waiting',
      message: "the VM's create operation is in progress",
    });
    await readAgain(launch);
    expect(operationReads(world)).toEqual([]);
  });

  it('r098: fails by the VM’s own state, with Azure’s code', async () => {
    const launch = await launched({
      faults: [
        {
          on: 'createVirtualMachine',
          then: { kind: 'operationFails', afterSeconds: 2, code: 'ZonalAllocationFailed', message: 'no room' },
        },
      ],
    });
    const unknown = { ...launch, resumeToken: null, retryAfterMs: undefined };
    const failure = await world.untilDone(poll(unknown)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ApplicationFailure);
    expect(failure).toMatchObject({ details: [{ code: 'ZonalAllocationFailed', message: 'no room' }] });
    expect(operationReads(world)).toEqual([]);
  });

  it('r098: nor need a DELETE name one', async () => {
    const launch = await launched();
    world.azure.addFault({ on: 'deleteVirtualMachine', then: { kind: 'operationUnnamed' } });
    const removal = await world.attempt(() => world.launcher.beginRemoval(world.ref, { round: 0, attempt: 0 }, false));
    if (removal.kind !== 'deleting') throw new Error(`the removal is ${removal.kind}`);
    expect(removal.deletion.resumeToken).toBeNull();
    await world.untilDone(() => world.launcher.followDeletion(world.ref, removal.deletion));
    expect(world.azure.virtualMachines()).toEqual([]);
    expect(await readNodeClaim(world.cluster.api, launch.nodeClaim)).toBeUndefined();
  });
});

describe('an operation that ends otherwise', () => {
  it('r086: well, though its VM is gone by then, is one failure and no endless poll', async () => {
    const launch = await launched({
      vmCreateMs: 1,
      faults: [{ on: 'createVirtualMachine', then: { kind: 'vanish', afterSeconds: 0 } }],
    });
    await eventually(() => {
      expect(world.azure.virtualMachines()).toEqual([]);
    });
    expect(await world.failure(poll(launch), longAgoMs)).toMatchObject({
      type: 'LaunchFailed',
      nonRetryable: true,
      details: [{ code: 'VirtualMachineNotFound' }],
    });
    expect(operationReads(world).map(({ status }) => status)).toEqual([200]);
  });

  it('never, though each read is a 200, fails at the launch deadline', async () => {
    const launch = await launched({ faults: [{ on: 'createVirtualMachine', then: { kind: 'operationNeverEnds' } }] });
    expect(await world.failure(poll(launch), longAgoMs)).toMatchObject({ type: 'Waiting' });
    expect(await world.failure(poll(launch), 59_990)).toMatchObject({ details: [{ code: 'LaunchTimeout' }] });
    expect(operationReads(world).map(({ status }) => status)).toEqual([200, 200]);
  });
});

describe('a resume token that names another host', () => {
  it('is refused: our bearer token goes nowhere else', async () => {
    const launch = await launched();
    const resumeToken = launch.resumeToken?.replaceAll(world.azure.endpoint, 'https://elsewhere.example') ?? null;
    expect(resumeToken).toContain('https://elsewhere.example');
    expect(await world.failure(poll({ ...launch, resumeToken }), longAgoMs)).toMatchObject({
      type: 'Refused',
      nonRetryable: true,
      message: expect.stringContaining('names another host'),
    });
    expect(operationReads(world)).toEqual([]);
  });
});
