import { ApplicationFailure } from '@temporalio/common';

import type { ArmWriteActivities, ReplacementActivities } from '../workflows/activityInterfaces.js';
import { failureTypes } from '../workflows/failures.js';
import type { ReplacementRef } from '../workflows/replacementTypes.js';
import { drain } from './drain.js';
import type { ActivityEnvironment } from './environment.js';
import { checkCluster } from './environment.js';
import { unlessPaused } from './killSwitch.js';
import type { Launcher } from './launcher/launcher.js';
import { release } from './release.js';
import { reserve } from './reserve.js';

/** The activities of a replacement, for the cluster's own task queue. While the kill switch is on each of them fails with Paused. */
export function createReplacementActivities(
  environment: ActivityEnvironment,
  launcher: Launcher,
): ReplacementActivities {
  const { killSwitch } = environment;
  return {
    reserve: (ref) => unlessPaused(killSwitch, () => reserve(environment, ref)),
    drain: (ref, launch, paused) => drain(environment, ref, launch, paused),
    release: (ref) => unlessPaused(killSwitch, () => release(environment, ref)),
    pollLaunch: (ref, launch) => unlessPaused(killSwitch, () => launcher.pollLaunch(ref, launch)),
    initialize: (ref, launch, ttlMs) => unlessPaused(killSwitch, () => launcher.initialize(ref, launch, ttlMs)),
    followDeletion: (ref, deletion) => unlessPaused(killSwitch, () => launcher.followDeletion(ref, deletion)),
    waitUntilResumed: (ref) => waitUntilResumed(environment, ref),
  };
}

/** The activities that write to ARM, for the task queue whose rate is bounded. */
export function createArmWriteActivities({ killSwitch }: ActivityEnvironment, launcher: Launcher): ArmWriteActivities {
  return {
    createReplacement: (ref, request) => unlessPaused(killSwitch, () => launcher.createReplacement(ref, request)),
    beginDeletion: (ref, launch) => unlessPaused(killSwitch, () => launcher.beginDeletion(ref, launch)),
    beginRemoval: (ref, name, evictionBegan) =>
      unlessPaused(killSwitch, () => launcher.beginRemoval(ref, name, evictionBegan)),
  };
}

function waitUntilResumed(environment: ActivityEnvironment, ref: ReplacementRef): Promise<void> {
  checkCluster(environment, ref.cluster);
  const { pausedWhy } = environment.killSwitch;
  if (pausedWhy === undefined) return Promise.resolve();
  return Promise.reject(ApplicationFailure.create({ type: failureTypes.waiting, message: pausedWhy }));
}
