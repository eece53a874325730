import { afterEach, describe, expect, it } from '@jest/globals';

import { readNodeClaim } from '../../activities/kubernetes/nodeClaims.js';
import { conditionTypes, getCondition, isTrue } from '../../karpenter/conditions.js';
import { replacementName } from '../../karpenter/replacement.js';
import type { AzureFault, FaultPoint } from '../../simulator/azure/faults.js';
import type { Deletion, Launch } from '../../workflows/replacementTypes.js';
import { createNode } from '../simulator/behaviourHarness.js';
import type { LauncherWorld } from '../support/launcherWorld.js';
import {
  armRequests,
  operationReads,
  poolName,
  putCount,
  speed,
  startLauncherWorld,
} from '../support/launcherWorld.js';

let world: LauncherWorld;
afterEach(() => world.close());

/** Long after Azure's Retry-After. */
const longAgoMs = 1_000;
const ownFirstMs = 10_000 / speed;
const retryAfterSeconds = 240;

function throttled(on: FaultPoint, count: number, seconds?: number): AzureFault {
  const tooMany = { kind: 'requestFails', status: 429, code: 'OperationNotAllowed', message: 'too many' } as const;
  return { on, count, then: seconds === undefined ? tooMany : { ...tooMany, retryAfterSeconds: seconds } };
}

function create(): Promise<Launch> {
  return world.launcher.createReplacement(world.ref, world.request());
}

async function remove(): Promise<Deletion> {
  const removal = await world.launcher.beginRemoval(world.ref, { round: 0, attempt: 0 }, false);
  if (removal.kind !== 'deleting') throw new Error(`the removal is ${removal.kind}`);
  return removal.deletion;
}

async function replacementConditions(): Promise<{ readonly launched: unknown; readonly terminating: boolean }> {
  const name = replacementName(poolName, world.old.metadata.uid, 0, 0);
  const nodeClaim = await readNodeClaim(world.cluster.api, name);
  if (nodeClaim === undefined) throw new Error(`NodeClaim ${name} is gone`);
  return {
    launched: getCondition(nodeClaim, conditionTypes.launched),
    terminating: isTrue(nodeClaim, conditionTypes.instanceTerminating),
  };
}

/** When the requests that were answered 429, and the one after them, were made: the pauses between them. */
function pauses(requests: ReturnType<typeof armRequests>): number[] {
  const first = requests.findIndex(({ status }) => status === 429);
  const ats = requests.slice(first).map(({ at, durationMs }) => at - durationMs);
  return ats.slice(1, 4).map((at, index) => at - (ats[index] ?? 0));
}

/** The waits of our own: each at least twice the one before, and all longer than the poll interval's beginning. */
function expectBackoff(found: readonly number[]): void {
  expect(found).toHaveLength(3);
  for (const [refusal, pauseMs] of found.entries()) {
    expect(pauseMs).toBeGreaterThanOrEqual(ownFirstMs * 2 ** refusal - 1);
  }
}

describe('r100: a 429 without Retry-After is waited for longer each time, and fails nothing', () => {
  it('on the read of the VM before its PUT', async () => {
    world = await startLauncherWorld({ faults: [throttled('getVirtualMachine', 3)] });
    await world.untilDone(create);
    expectBackoff(pauses(armRequests(world, 'GET')));
    expect(putCount(world)).toBe(1);
  });

  it('on the PUT', async () => {
    world = await startLauncherWorld({ faults: [throttled('createVirtualMachine', 3)] });
    await world.untilDone(create);
    expectBackoff(pauses(armRequests(world, 'PUT')));
    expect(world.azure.virtualMachines()).toHaveLength(1);
    expect(await replacementConditions()).toMatchObject({ launched: { status: 'True' } });
  });

  it('on the poll', async () => {
    world = await startLauncherWorld({ vmCreateMs: 1 });
    const launch = await world.attempt(create);
    await createNode(world.cluster, launch.virtualMachine, { providerID: launch.providerId });
    world.azure.addFault(throttled('getOperation', 3));
    await world.untilDone(() => world.launcher.pollLaunch(world.ref, launch));
    expectBackoff(pauses(operationReads(world)));
    expect(await replacementConditions()).toMatchObject({ launched: { status: 'True' } });
  });

  it('on the DELETE', async () => {
    world = await startLauncherWorld({ faults: [throttled('deleteVirtualMachine', 3)] });
    await world.attempt(create);
    await world.untilDone(remove);
    expectBackoff(pauses(armRequests(world, 'DELETE')));
    expect(await replacementConditions()).toMatchObject({ terminating: true });
  });

  it('up to the launch deadline: then the launch has failed, marked as such', async () => {
    // However slow the machine, the second one is held back.
    const throttle = { firstMs: 60_000, lastMs: 60_000, longestMs: 60_000 };
    world = await startLauncherWorld({ faults: [throttled('createVirtualMachine', 100)], throttle });
    expect(await world.failure(create)).toMatchObject({ type: 'Waiting' });
    expect(await world.failure(create, 59_990)).toMatchObject({
      type: 'LaunchFailed',
      details: [
        { code: 'LaunchTimeout', message: expect.stringContaining('ARM throttles it'), anotherOffering: false },
      ],
    });
    expect(await replacementConditions()).toMatchObject({ launched: { status: 'False', reason: 'LaunchTimeout' } });
  });
});

describe('r101: a 429 of the whole subscription', () => {
  it('is heeded by all twenty replacements that poll, and not all of them come back at once', async () => {
    world = await startLauncherWorld({ vmCreateMs: 1 });
    const launch = await world.attempt(create);
    await createNode(world.cluster, launch.virtualMachine, { providerID: launch.providerId });
    world.azure.addFault(throttled('getOperation', 1, retryAfterSeconds));
    const poll = (): Promise<void> => world.launcher.pollLaunch(world.ref, launch);
    await world.delayMs(poll, longAgoMs);
    const [refused] = operationReads(world);
    const delays = await Promise.all(Array.from({ length: 20 }, () => world.delayMs(poll, longAgoMs)));
    expect(operationReads(world)).toHaveLength(1);
    const openAtMs = (refused?.at ?? 0) + (retryAfterSeconds * 1_000) / speed;
    for (const delayMs of delays) expect(Date.now() + delayMs).toBeGreaterThanOrEqual(openAtMs);
    expect(Math.max(...delays) - Math.min(...delays)).toBeGreaterThan(10_000 / speed);
    // Other requests than reads of operations are not held back.
    expect(await world.environment.virtualMachines.get(launch.virtualMachine)).toBeDefined();

    await Promise.all(Array.from({ length: 20 }, () => world.untilDone(poll)));
    const [, ...later] = operationReads(world);
    expect(later).toHaveLength(20);
    for (const { at, durationMs } of later) expect(at - durationMs).toBeGreaterThanOrEqual(openAtMs - 1);
  });
});

describe('a delete that Azure refuses for 180 s', () => {
  it('is begun again until it is accepted; nothing counts as terminating before', async () => {
    world = await startLauncherWorld();
    await world.attempt(create);
    // Once every poll interval of 10 s.
    world.azure.addFault({
      on: 'deleteVirtualMachine',
      count: 18,
      then: { kind: 'requestFails', status: 409, code: 'OperationNotAllowed', message: 'reserved for 180 seconds' },
    });
    expect(await world.failure(remove)).toMatchObject({ type: 'Waiting' });
    expect(await replacementConditions()).toMatchObject({ terminating: false });
    const deletion = await world.untilDone(remove);
    expect(await replacementConditions()).toMatchObject({ terminating: true });
    expect(armRequests(world, 'DELETE').map(({ status }) => status)).toEqual([...new Array<number>(18).fill(409), 202]);
    await world.untilDone(() => world.launcher.followDeletion(world.ref, deletion));
    expect(world.azure.virtualMachines()).toEqual([]);
  });
});
