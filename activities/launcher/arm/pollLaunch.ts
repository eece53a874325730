import { log } from '@temporalio/activity';

import { conditionTypes, getCondition } from '../../../karpenter/conditions.js';
import type { Launch, ReplacementRef } from '../../../workflows/replacementTypes.js';
import { ArmError } from '../../azure/armError.js';
import { assessError } from '../../azure/errorCatalogue.js';
import { checkCluster } from '../../environment.js';
import { readNode } from '../../kubernetes/nodes.js';
import { isLastAttempt, waitAgain, waitAgainIfThereIsTime } from '../../waiting.js';
import { failLaunch, launchTimeout } from '../launchFailure.js';
import type { ArmEnvironment } from './armEnvironment.js';
import { failCreate } from './failCreate.js';
import { clampDelay, retryDelay, waitForFirstLook } from './pollDelay.js';
import type { LaunchState } from './provisioningState.js';
import { readProvisioningState } from './provisioningState.js';

/**
 * One look at a launch, until its Node has registered. Always from the original token: a token that is serialised after a failed
 * read is garbage. A failed read says nothing about the operation; only a terminal state in its body does.
 */
export async function pollLaunch(environment: ArmEnvironment, ref: ReplacementRef, launch: Launch): Promise<void> {
  checkCluster(environment, ref.cluster);
  const { settings } = environment;
  waitForFirstLook(settings, launch);
  const state = await lookAtLaunch(environment, ref, launch);
  switch (state.kind) {
    case 'succeeded':
      // A VM can be created and vanish, as spot VMs do: it is looked at until its Node is there.
      if (environment.nodes.get(launch.virtualMachine) !== undefined || isLastAttempt()) return;
      return waitAgain('the VM is created, its Node has not registered yet', clampDelay(settings, undefined));
    case 'running':
      waitAgainIfThereIsTime("the VM's create operation is in progress", clampDelay(settings, state.retryAfterMs));
      return await failLaunch(environment, ref, launchTimeout(launch, "the VM's create operation did not end in time"));
    case 'failed':
      if (await hasComeUp(environment, launch)) return;
      await failCreate(environment, ref, launch, { ...state, ...assessError(state.code, state.message) });
  }
}

async function lookAtLaunch(environment: ArmEnvironment, ref: ReplacementRef, launch: Launch): Promise<LaunchState> {
  const { virtualMachines, settings } = environment;
  try {
    if (launch.resumeToken !== null) {
      const state = await virtualMachines.look(launch.resumeToken);
      if (state.kind !== 'forgotten') return state;
    }
    return readProvisioningState(await virtualMachines.get(launch.virtualMachine));
  } catch (error) {
    if (!(error instanceof ArmError)) throw error;
    const what = `the operation could not be read: ${error.message}`;
    waitAgainIfThereIsTime(what, retryDelay(settings, error));
    return await failLaunch(environment, ref, launchTimeout(launch, what));
  }
}

/** A launch that Azure gave up may have come up all the same: its node is looked at once more before anything is undone. */
async function hasComeUp({ kubernetes }: ArmEnvironment, launch: Launch): Promise<boolean> {
  const node = await readNode(kubernetes, launch.virtualMachine);
  const isUp =
    node?.spec?.providerID === launch.providerId && getCondition(node, conditionTypes.ready)?.status === 'True';
  if (isUp) log.warn('the create operation failed, but the node has come up', { node: launch.virtualMachine });
  return isUp;
}
