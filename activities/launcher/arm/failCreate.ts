import { log } from '@temporalio/activity';

import { markOf } from '../../../karpenter/unavailableOfferings.js';
import type { Launch, ReplacementRef } from '../../../workflows/replacementTypes.js';
import type { Assessment } from '../../azure/errorCatalogue.js';
import { markUnavailable } from '../../unavailableOfferings.js';
import { failLaunch } from '../launchFailure.js';
import type { ArmEnvironment } from './armEnvironment.js';

/** Azure's error on a create, and what the catalogue says of it. */
export interface FailedCreate extends Assessment {
  readonly code: string;
  readonly message: string;
}

/** Ends a launch that Azure refused or gave up: what it could not give is marked for all, then the launch is failed. */
export async function failCreate(
  environment: ArmEnvironment,
  ref: ReplacementRef,
  launch: Omit<Launch, 'resumeToken'>,
  { code, message, errorClass, unavailable, isKnown }: FailedCreate,
): Promise<never> {
  if (!isKnown) log.warn('Azure failed a create with a code that is not in the catalogue', { code, error: message });
  if (unavailable !== undefined) {
    const { scope, onDemandMs, spotMs } = unavailable;
    const untilMs = Date.now() + (launch.offering.capacityType === 'spot' ? spotMs : onDemandMs);
    await markUnavailable(environment, markOf(scope, launch.offering, untilMs, code));
  }
  return await failLaunch(environment, ref, {
    ...launch,
    condition: 'Launched',
    code,
    message,
    // Where Azure itself failed the same could succeed, too: any further attempt will do.
    anotherOffering: errorClass !== 'needsHuman',
  });
}
