import type { VirtualMachine } from '@azure/arm-compute';

import type { OperationState } from '../../azure/virtualMachines.js';

/** What is known of a launch: its operation's state, or the VM's own. */
export type LaunchState = Exclude<OperationState, { kind: 'forgotten' }>;

/**
 * Where there is no operation to follow, the VM itself tells: its provisioning state, and the error code in its instance view. A state
 * that is not known is one that has not ended.
 */
export function readProvisioningState(virtualMachine: VirtualMachine | undefined): LaunchState {
  if (virtualMachine === undefined) {
    return { kind: 'failed', code: 'VirtualMachineNotFound', message: 'the VM is gone' };
  }
  switch (virtualMachine.provisioningState) {
    case 'Succeeded':
      return { kind: 'succeeded' };
    case 'Failed': {
      const prefix = 'ProvisioningState/failed/';
      const status = virtualMachine.instanceView?.statuses?.find(({ code }) => code?.startsWith(prefix));
      const code = status?.code?.slice(prefix.length) ?? 'ProvisioningFailed';
      return { kind: 'failed', code, message: status?.message ?? 'the VM is in state Failed' };
    }
    case 'Deleting':
    case 'Canceled':
      return {
        kind: 'failed',
        code: 'OperationPreempted',
        message: `the VM is in state ${virtualMachine.provisioningState}`,
      };
    case undefined:
    default:
      return { kind: 'running', retryAfterMs: undefined };
  }
}
