import type { ArmWriteActivities, ReplacementActivities } from '../workflows/activityInterfaces.js';
import { drain } from './drain.js';
import type { ActivityEnvironment } from './environment.js';
import type { Launcher } from './launcher/launcher.js';
import { release, reserve } from './reserve.js';

/** The activities of a replacement, for the cluster's own task queue. */
export function createReplacementActivities(
  environment: ActivityEnvironment,
  launcher: Launcher,
): ReplacementActivities {
  return {
    reserve: (ref) => reserve(environment, ref),
    drain: (ref, launch) => drain(environment, ref, launch),
    release: (ref) => release(environment, ref),
    pollLaunch: (ref, launch) => launcher.pollLaunch(ref, launch),
    initialize: (ref, launch, registrationTtlMs) => launcher.initialize(ref, launch, registrationTtlMs),
    followDeletion: (ref, deletion) => launcher.followDeletion(ref, deletion),
  };
}

/** The activities that write to ARM, for the task queue whose rate is bounded. */
export function createArmWriteActivities(launcher: Launcher): ArmWriteActivities {
  return {
    createReplacement: (ref, request) => launcher.createReplacement(ref, request),
    beginDeletion: (ref, launch) => launcher.beginDeletion(ref, launch),
    beginRemoval: (ref, name, evictionBegan) => launcher.beginRemoval(ref, name, evictionBegan),
  };
}
