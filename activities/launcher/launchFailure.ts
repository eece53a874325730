import { log } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';

import type { LaunchFailedDetails } from '../../workflows/failures.js';
import { failureTypes } from '../../workflows/failures.js';
import type { ReplacementRef } from '../../workflows/replacementTypes.js';
import type { ActivityEnvironment } from '../environment.js';
import { nodeClaimSubject, recordEvent } from '../kubernetes/events.js';
import { setNodeClaimCondition } from '../kubernetes/nodeClaims.js';

/** A launch that failed, and the condition of the new NodeClaim that says so. */
export interface FailedLaunch extends LaunchFailedDetails {
  readonly uid: string;
  readonly condition: 'Launched' | 'Registered' | 'Initialized';
}

/** A launch of which Azure has not said in time what became of it. */
export function launchTimeout(
  launch: { readonly nodeClaim: string; readonly uid: string },
  message: string,
): FailedLaunch {
  const { nodeClaim, uid } = launch;
  return { nodeClaim, uid, condition: 'Launched', code: 'LaunchTimeout', message, anotherOffering: false };
}

/** The reason of a condition has to be one word; Azure's codes are. */
function conditionReason(code: string): string {
  return /^[A-Za-z]\w*$/.test(code) ? code : 'LaunchFailed';
}

/**
 * Marks a failed launch where people look for it, on the new NodeClaim and in Events on it and on the old one, which stays; then fails
 * the activity for good. From here on nothing waits for a TTL.
 */
export async function failLaunch(
  environment: ActivityEnvironment,
  ref: ReplacementRef,
  failure: FailedLaunch,
): Promise<never> {
  const { kubernetes } = environment;
  const { nodeClaim, uid, code, message, anotherOffering, condition: type } = failure;
  log.warn('launch failed', { replacement: nodeClaim, code });
  await setNodeClaimCondition(kubernetes, nodeClaim, uid, {
    type,
    status: 'False',
    reason: conditionReason(code),
    message,
  });
  const eventText = `Launch of ${nodeClaim} failed: ${code}: ${message}`;
  await Promise.all([
    recordEvent(kubernetes, nodeClaimSubject(nodeClaim, uid), 'Warning', 'LaunchFailed', eventText),
    recordEvent(kubernetes, nodeClaimSubject(ref.nodeClaim, ref.uid), 'Warning', 'ReplacementLaunchFailed', eventText),
  ]);
  throw launchFailed({ nodeClaim, code, message, anotherOffering });
}

/** What a launch that has failed ends its activity with, for good. */
export function launchFailed(details: LaunchFailedDetails): ApplicationFailure {
  return ApplicationFailure.create({
    type: failureTypes.launchFailed,
    message: `${details.code}: ${details.message}`,
    nonRetryable: true,
    details: [details],
  });
}
