import {
  CancellationScope,
  condition,
  getExternalWorkflowHandle,
  log,
  proxyActivities,
  setHandler,
} from '@temporalio/workflow';
import { ActivityFailure, ApplicationFailure } from '@temporalio/common';

import type { InFlight, RolloutActivities } from './activityInterfaces.js';
import { summarizeFailure } from './failures.js';
import { replaceNodeWorkflowId } from './ids.js';
import {
  cancelUpdate,
  pauseUpdate,
  pokeSignal,
  resumeUpdate,
  retryUpdate,
  skipUpdate,
  statusQuery,
} from './messages.js';
import type {
  CancelAnswer,
  CancelRequest,
  ResumeRequest,
  RetryAnswer,
  RetryRequest,
  Skip,
  SkipRequest,
} from './messages.js';
import { checkAsker, checkCancelRequest, checkRetryRequest, checkSkipRequest } from './requests.js';
import type { RolloutInput, RolloutState } from './rolloutState.js';

const { findNodeClaim } = proxyActivities<RolloutActivities>({
  startToCloseTimeout: '15 seconds',
  scheduleToCloseTimeout: '1 minute',
  summary: 'Find the NodeClaim that a person names',
});

/**
 * What people and other workflows may ask of a rollout. A validator refuses what is wrong without a trace in the history; a handler
 * may fail with nothing but a failure of Temporal's: any other error would hold up the whole rollout. Handlers serve a rollout that is
 * canceled as well: what becomes of its children is asked for by them.
 */
export function setHandlers(input: RolloutInput, rollout: RolloutState): void {
  setHandler(
    pokeSignal,
    () => {
      rollout.poke();
    },
    { description: 'Something may have changed: look at the cluster' },
  );
  setHandler(statusQuery, () => rollout.status(Date.now()), { description: 'What the rollout is doing now' });
  setHandler(retryUpdate, (request) => CancellationScope.nonCancellable(() => retry(rollout, request)), {
    validator: (request: RetryRequest) => {
      checkRetryRequest(request);
      rollout.checkRetry(request);
    },
    description: 'Start failed replacements again, now: {} or {"nodeClaim", "by", "why"}',
  });
  setHandler(pauseUpdate, (request) => rollout.pause(request, Date.now()), {
    validator: checkAsker,
    description: 'Start nothing any more: {"by", "why"}',
  });
  setHandler(
    resumeUpdate,
    (request) => {
      rollout.resume(request, Date.now());
    },
    {
      validator: (request: ResumeRequest) => {
        checkAsker(request);
        rollout.checkResume();
      },
      description: 'Go on after a pause: {"by", "why"}',
    },
  );
  setHandler(skipUpdate, (request) => CancellationScope.nonCancellable(() => skip(input, rollout, request)), {
    validator: (request: SkipRequest) => {
      checkSkipRequest(request, Date.now());
      rollout.checkSkip(request.nodeClaim);
    },
    description: 'Leave a NodeClaim alone for a while: {"nodeClaim", "until", "by", "why"}',
  });
  setHandler(cancelUpdate, (request) => CancellationScope.nonCancellable(() => cancel(input, rollout, request)), {
    validator: (request: CancelRequest) => {
      checkCancelRequest(request);
      rollout.checkCancel(request);
    },
    description: 'Cancel replacements that are under way: {"by", "why"} or {"nodeClaim", "by", "why"}',
  });
}

async function retry(rollout: RolloutState, request: RetryRequest): Promise<RetryAnswer> {
  await condition(() => rollout.isObserved);
  rollout.checkRetry(request);
  return rollout.retry(request, Date.now());
}

/** From the request on the NodeClaim does not start, though its UID is known only when it has been found. */
async function skip({ cluster, nodePool }: RolloutInput, rollout: RolloutState, request: SkipRequest): Promise<Skip> {
  const { nodeClaim } = request;
  rollout.beginSkip(nodeClaim);
  try {
    const found = await orFailureOfUpdate(findNodeClaim({ cluster, nodePool, nodeClaim }));
    await condition(() => rollout.isObserved);
    return rollout.skip(found, request, Date.now());
  } finally {
    rollout.endSkip(nodeClaim);
  }
}

/** The failure of an update is what the person reads: it says what is wrong, not that an activity failed. */
async function orFailureOfUpdate<T>(activity: Promise<T>): Promise<T> {
  try {
    return await activity;
  } catch (error) {
    if (error instanceof ActivityFailure && error.cause instanceof ApplicationFailure) throw error.cause;
    throw error;
  }
}

async function cancel({ cluster }: RolloutInput, rollout: RolloutState, request: CancelRequest): Promise<CancelAnswer> {
  await condition(() => rollout.isObserved);
  rollout.checkCancel(request);
  const children = rollout.cancelable(request, Date.now());
  await Promise.all(children.map((child) => cancelChild(cluster, child)));
  return { canceled: children.map(({ nodeClaim }) => nodeClaim) };
}

/** One that has ended in the meantime needs no cancel any more. */
async function cancelChild(cluster: string, { nodeClaim, uid }: InFlight): Promise<void> {
  const workflowId = replaceNodeWorkflowId(cluster, nodeClaim, uid);
  try {
    await getExternalWorkflowHandle(workflowId).cancel();
  } catch (error) {
    log.info('nothing to cancel', { workflowId, error: summarizeFailure(error).message });
  }
}
