import type { Launcher } from '../launcher.js';
import type { ArmEnvironment } from './armEnvironment.js';
import { createReplacement } from './createReplacement.js';
import { beginDeletion, beginRemoval, followDeletion } from './delete.js';
import { initialize } from './initialize.js';
import { pollLaunch } from './pollLaunch.js';

/** The launcher for clusters whose NodeClass no running Karpenter manages: Driftless creates and deletes the VMs itself. */
export function createArmLauncher(environment: ArmEnvironment): Launcher {
  return {
    createReplacement: (ref, request) => createReplacement(environment, ref, request),
    pollLaunch: (ref, launch) => pollLaunch(environment, ref, launch),
    initialize: (ref, launch, registrationTtlMs) => initialize(environment, ref, launch, registrationTtlMs),
    beginDeletion: (ref, launch) => beginDeletion(environment, ref, launch),
    beginRemoval: (ref, name, evictionBegan) => beginRemoval(environment, ref, name, evictionBegan),
    followDeletion: (ref, deletion) => followDeletion(environment, ref, deletion),
  };
}
