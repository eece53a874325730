import { afterEach, describe, expect, it } from '@jest/globals';

import { readConfigMap } from '../../activities/kubernetes/configMaps.js';
import { readNodeClaim } from '../../activities/kubernetes/nodeClaims.js';
import { readNode } from '../../activities/kubernetes/nodes.js';
import { readProvisioningState } from '../../activities/launcher/arm/provisioningState.js';
import { getCondition, isTrue } from '../../karpenter/conditions.js';
import type { AzureFault } from '../../simulator/azure/faults.js';
import type { Launch } from '../../workflows/replacementTypes.js';
import { createNode } from '../simulator/behaviourHarness.js';
import { eventually } from '../support/eventually.js';
import type { LauncherWorld, WorldOptions } from '../support/launcherWorld.js';
import { putCount, startLauncherWorld } from '../support/launcherWorld.js';

let world: LauncherWorld;
afterEach(() => world.close());

const longMs = 59_990;
/** Long after Azure's Retry-After. */
const longAgoMs = 1_000;

function operationFails(code: string, afterSeconds: number, machineStarts = false): AzureFault {
  return {
    on: 'createVirtualMachine',
    then: { kind: 'operationFails', afterSeconds, code, message: 'said Azure', machineStarts },
  };
}

async function launched(options: WorldOptions = {}): Promise<Launch> {
  world = await startLauncherWorld(options);
  return await world.attempt(() => world.launcher.createReplacement(world.ref, world.request()));
}

function poll(launch: Launch): () => Promise<void> {
  return () => world.launcher.pollLaunch(world.ref, launch);
}

/** The failure with which the polling ends. */
async function end(launch: Launch): Promise<unknown> {
  return await world.untilDone(poll(launch)).then(
    () => {
      throw new Error('the launch did not fail');
    },
    (error: unknown) => error,
  );
}

/** As a launch whose operation is not known: an earlier attempt began it. */
function withoutOperation(launch: Launch): Launch {
  return { ...launch, resumeToken: null, retryAfterMs: undefined };
}

async function operationEnded(): Promise<void> {
  await eventually(() => {
    const isOver = world.azure.audit.entries.some((entry) => entry.kind === 'operation' && entry.phase === 'failed');
    if (!isOver) throw new Error('the operation goes on');
  });
}

async function join(launch: Launch): Promise<void> {
  await createNode(world.cluster, launch.virtualMachine, { providerID: launch.providerId });
}

async function remove(): Promise<void> {
  const removal = await world.untilDone(() => world.launcher.beginRemoval(world.ref, { round: 0, attempt: 0 }, false));
  if (removal.kind !== 'deleting') throw new Error(`the removal is ${removal.kind}`);
  await world.untilDone(() => world.launcher.followDeletion(world.ref, removal.deletion));
}

describe('a create whose operation fails', () => {
  it('r069: two seconds in is a failure of the launch, with Azure’s code, long before any wait for the Node', async () => {
    const launch = await launched({ faults: [operationFails('AllocationFailed', 2)] });
    await operationEnded();
    expect(await end(launch)).toMatchObject({
      type: 'LaunchFailed',
      details: [{ code: 'AllocationFailed', message: 'said Azure', anotherOffering: true }],
    });
    const marked = await readNodeClaim(world.environment.kubernetes, launch.nodeClaim);
    expect(marked === undefined ? undefined : getCondition(marked, 'Launched')).toMatchObject({
      status: 'False',
      reason: 'AllocationFailed',
    });
    const marks = await readConfigMap(world.environment.kubernetes, {
      namespace: 'kube-system',
      name: 'driftless-unavailable-offerings',
    });
    expect(Object.keys(marks)).toEqual(['Standard_D2as_v5.any.any']);
  });

  it.each<[string, AzureFault['then']]>([
    ['404', { kind: 'requestFails', status: 404, code: 'ResourceNotFound', message: 'gone' }],
    ['429', { kind: 'requestFails', status: 429, code: 'OperationNotAllowed', message: 'too many' }],
    ['a broken connection', { kind: 'reset' }],
  ])('r070: keeps its own error as the cause when the VM cannot be read afterwards: %s', async (_, then) => {
    const launch = await launched({ faults: [operationFails('ZonalAllocationFailed', 2)] });
    await operationEnded();
    world.azure.addFault({ on: 'getVirtualMachine', then });
    expect(await end(launch)).toMatchObject({ details: [{ code: 'ZonalAllocationFailed' }] });
    await remove();
    expect(world.azure.virtualMachines()).toEqual([]);
  });

  it('r076: is none when the Node has come up all the same', async () => {
    const launch = await launched({ faults: [operationFails('OSProvisioningTimedOut', 2, true)] });
    await join(launch);
    await operationEnded();
    await world.untilDone(poll(launch));
    expect(await readNodeClaim(world.environment.kubernetes, launch.nodeClaim)).toMatchObject({
      status: { conditions: expect.arrayContaining([expect.objectContaining({ type: 'Launched', status: 'True' })]) },
    });
  });

  it('r076: leaves no Node without a VM when the Node comes later than the verdict', async () => {
    const launch = await launched({ faults: [operationFails('OSProvisioningTimedOut', 2, true)] });
    await end(launch);
    await join(launch);
    await remove();
    expect(await readNode(world.environment.kubernetes, launch.virtualMachine)).toBeUndefined();
    expect(world.azure.virtualMachines()).toEqual([]);
    expect(world.azure.networkInterfaces()).toEqual([]);
    expect(world.azure.disks()).toEqual([]);
  });

  it('r082: takes its OS disk with it: a later create, of the same name too, succeeds', async () => {
    const launch = await launched({ faults: [operationFails('InternalExecutionError', 2)] });
    await end(launch);
    expect(world.azure.disks()).toHaveLength(1);
    await remove();
    expect(world.azure.disks()).toEqual([]);
    const again = await world.attempt(() => world.launcher.createReplacement(world.ref, world.request()));
    expect(again.virtualMachine).toBe(launch.virtualMachine);
    await join(again);
    await world.untilDone(poll(again));
  });
});

describe('a create that is followed by its VM alone', () => {
  const serverError = { kind: 'requestFails', status: 500, code: 'InternalServerError', message: 'try again' } as const;

  it('r071: waits through failed reads, however many, until the VM is there', async () => {
    const launch = withoutOperation(await launched({ vmCreateMs: 200_000 }));
    await join(launch);
    for (const after of [1, 2]) world.azure.addFault({ on: 'getVirtualMachine', after, count: 2, then: serverError });
    await world.untilDone(poll(launch));
    const failed = world.azure.audit.entries.filter((entry) => entry.kind === 'request' && entry.status === 500);
    expect(failed).toHaveLength(4);
  });

  it('r071: takes a state that nobody has heard of for one that has not ended, up to the deadline', async () => {
    expect(readProvisioningState({ location: 'westus2', provisioningState: 'Weird' })).toMatchObject({
      kind: 'running',
    });
    const launch = withoutOperation(
      await launched({ faults: [{ on: 'createVirtualMachine', then: { kind: 'operationNeverEnds' } }] }),
    );
    expect(await world.failure(poll(launch))).toMatchObject({ type: 'Waiting' });
    expect(await world.failure(poll(launch), longMs)).toMatchObject({ details: [{ code: 'LaunchTimeout' }] });
  });

  it('r071: knows a VM that is gone', async () => {
    const launch = withoutOperation(await launched({ vmCreateMs: 1 }));
    await remove();
    expect(await world.failure(poll(launch))).toMatchObject({ details: [{ code: 'VirtualMachineNotFound' }] });
  });
});

describe('a VM of which Azure says that it succeeded', () => {
  it('r078: is no node before its Node is there, Ready and initialized', async () => {
    const launch = await launched({ vmCreateMs: 1 });
    await eventually(async () => {
      expect(await world.failure(poll(launch), longAgoMs)).toMatchObject({
        type: 'Waiting',
        message: expect.stringContaining('not registered'),
      });
    });
    const initialize = (): Promise<void> => world.launcher.initialize(world.ref, launch, 30_000);
    await eventually(async () => {
      expect(await world.failure(initialize)).toMatchObject({ message: 'the Node has not registered yet' });
    });
    expect(await world.failure(initialize, 30_001)).toMatchObject({ details: [{ code: 'RegistrationTimeout' }] });
    const claim = await readNodeClaim(world.environment.kubernetes, launch.nodeClaim);
    expect(claim === undefined ? true : isTrue(claim, 'Initialized')).toBe(false);
    expect(putCount(world)).toBe(1);
  });
});
