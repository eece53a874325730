import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import {
  createNodeClaim,
  deleteNodeClaim,
  listNodeClaims,
  readNodeClaim,
  setFinalizer,
} from '../../activities/kubernetes/nodeClaims.js';
import { conditionTypes, isTrue } from '../../karpenter/conditions.js';
import { nodePoolLabel, terminationFinalizer, unregisteredTaint } from '../../karpenter/labels.js';
import type { Launch } from '../../workflows/replacementTypes.js';
import { createNode } from '../simulator/behaviourHarness.js';
import { eventually } from '../support/eventually.js';
import type { LauncherWorld } from '../support/launcherWorld.js';
import { startLauncherWorld } from '../support/launcherWorld.js';

const ttlMs = 10_000;
/** No further one fits into the activity's time. */
const lastAttemptMs = 55_000;
let world: LauncherWorld;
let launch: Launch;

beforeEach(async () => {
  world = await startLauncherWorld();
  launch = await world.attempt(() => world.launcher.createReplacement(world.ref, world.request()));
  await eventually(() => {
    if (world.environment.nodeClaims.get(launch.nodeClaim) === undefined) throw new Error('not in the cache yet');
  });
});
afterEach(() => world.close());

function initialize(): Promise<void> {
  return world.launcher.initialize(world.ref, launch, ttlMs);
}

describe('a Node that the cache does not show', () => {
  beforeEach(async () => {
    // A watch that has gone silent.
    await world.environment.nodes.stop();
    await createNode(world.cluster, launch.virtualMachine, {
      providerID: launch.providerId,
      cpu: '1900m',
      memory: '7372Mi',
      pods: '110',
    });
  });

  it('r126: is looked for live before the registration TTL fails its launch', async () => {
    expect(await world.failure(initialize, ttlMs - 1_000)).toMatchObject({ type: 'Waiting' });
    await world.attempt(initialize, ttlMs);
    const nodeClaim = await readNodeClaim(world.environment.kubernetes, launch.nodeClaim);
    expect(nodeClaim !== undefined && isTrue(nodeClaim, conditionTypes.initialized)).toBe(true);
  });
});

it('goes on with a NodeClaim that the cache does not show', async () => {
  await world.environment.nodeClaims.stop();
  const unseen = await world.attempt(() => world.launcher.createReplacement(world.ref, world.request({ attempt: 1 })));
  expect(world.environment.nodeClaims.get(unseen.nodeClaim)).toBeUndefined();
  await createNode(world.cluster, unseen.virtualMachine, {
    providerID: unseen.providerId,
    ...{ cpu: '1900m', memory: '7372Mi', pods: '110' },
  });
  await eventually(() => world.attempt(() => world.launcher.initialize(world.ref, unseen, ttlMs)));
  const nodeClaim = await readNodeClaim(world.environment.kubernetes, unseen.nodeClaim);
  expect(nodeClaim !== undefined && isTrue(nodeClaim, conditionTypes.initialized)).toBe(true);
});

it('registers a Node and marks it Initialized in one attempt, even in the last one', async () => {
  const { cluster, environment } = world;
  await createNode(cluster, launch.virtualMachine, {
    providerID: launch.providerId,
    taints: [{ key: unregisteredTaint, effect: 'NoExecute' }],
    ...{ cpu: '1900m', memory: '7372Mi', pods: '110' },
  });
  await world.attempt(initialize, lastAttemptMs);
  const nodeClaim = await readNodeClaim(environment.kubernetes, launch.nodeClaim);
  expect(nodeClaim !== undefined && isTrue(nodeClaim, conditionTypes.initialized)).toBe(true);
});

it('fails at the registration TTL when there is no Node', async () => {
  const failure = await world.failure(initialize, ttlMs);
  expect(failure).toMatchObject({ type: 'LaunchFailed', nonRetryable: true });
  expect(failure.message).toContain('RegistrationTimeout');
});

it('r118: fails at once when its NodeClaim has been deleted, and says whose replacement it was', async () => {
  await deleteNodeClaim(world.environment.kubernetes, launch.nodeClaim, launch.uid);
  const message =
    `NodeClaim ${launch.nodeClaim} of NodePool general-purpose was deleted ` +
    'before it could replace NodeClaim old of NodePool general-purpose';
  const deleted = { code: 'ReplacementDeleted', message, anotherOffering: false };
  await eventually(async () => {
    expect(await world.failure(initialize)).toMatchObject({ nonRetryable: true, details: [deleted] });
  });
  await setFinalizer(world.environment.kubernetes, launch.nodeClaim, launch.uid, terminationFinalizer, false);
  expect(await world.failure(initialize)).toMatchObject({ nonRetryable: true, details: [deleted] });
});

it('r118: is of the NodePool that its label names, not of one whose name it begins with', async () => {
  const { kubernetes } = world.environment;
  const name = 'leaf-x-1';
  await createNodeClaim(kubernetes, name, {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name, labels: { [nodePoolLabel]: 'leaf-x' } },
    spec: { nodeClassRef: world.old.spec.nodeClassRef, requirements: [] },
  });
  const namesOf = async (pool: string): Promise<string[]> =>
    (await listNodeClaims(kubernetes, pool)).map(({ metadata }) => metadata.name);
  expect(await namesOf('leaf')).toEqual([]);
  expect(await namesOf('leaf-x')).toEqual([name]);
});
