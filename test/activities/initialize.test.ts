import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { readNodeClaim } from '../../activities/kubernetes/nodeClaims.js';
import { conditionTypes, isTrue } from '../../karpenter/conditions.js';
import type { Launch } from '../../workflows/replacementTypes.js';
import { createNode } from '../simulator/behaviourHarness.js';
import { eventually } from '../support/eventually.js';
import type { LauncherWorld } from '../support/launcherWorld.js';
import { startLauncherWorld } from '../support/launcherWorld.js';

const ttlMs = 10_000;
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

  it('is looked for live before the registration TTL fails its launch', async () => {
    expect(await world.failure(initialize, ttlMs - 1_000)).toMatchObject({ type: 'Waiting' });
    await world.attempt(initialize, ttlMs);
    const nodeClaim = await readNodeClaim(world.environment.kubernetes, launch.nodeClaim);
    expect(nodeClaim !== undefined && isTrue(nodeClaim, conditionTypes.initialized)).toBe(true);
  });
});

it('fails at the registration TTL when there is no Node', async () => {
  const failure = await world.failure(initialize, ttlMs);
  expect(failure).toMatchObject({ type: 'LaunchFailed', nonRetryable: true });
  expect(failure.message).toContain('RegistrationTimeout');
});
