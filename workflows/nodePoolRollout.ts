import {
  allHandlersFinished,
  ChildWorkflowCancellationType,
  condition,
  continueAsNew,
  isCancellation,
  ParentClosePolicy,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';
import type { ChildWorkflowHandle } from '@temporalio/workflow';
import {
  ApplicationFailure,
  CancelledFailure,
  ChildWorkflowFailure,
  TerminatedFailure,
  WorkflowExecutionAlreadyStartedError,
} from '@temporalio/common';

import type { Candidate } from '../karpenter/candidate.js';
import type { RolloutActivities } from './activityInterfaces.js';
import { replaceNodeWorkflowId } from './ids.js';
import { pokeSignal, retryUpdate, statusQuery } from './messages.js';
import type { RetryRequest, RolloutResult } from './messages.js';
import type { replaceNode } from './replaceNode.js';
import type { ReplaceNodeInput } from './replacementTypes.js';
import { rolloutDetails } from './rolloutDetails.js';
import { RolloutState } from './rolloutState.js';
import type { ChildEnd, RolloutInput } from './rolloutState.js';
import { searchAttributes } from './searchAttributes.js';

const { observePool } = proxyActivities<RolloutActivities>({
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' },
  summary: 'Read the pool, decide who may start',
});

/**
 * One NodePool's run of replacements: keeps as many of them in flight as the pool's disruption budget allows. The permits are read
 * from the live cluster at each wake; this workflow adds what only it knows: its children, their failures, what people asked for.
 */
export async function nodePoolRollout(input: RolloutInput): Promise<RolloutResult> {
  const rollout = new RolloutState(input);
  setHandler(
    pokeSignal,
    () => {
      rollout.poke();
    },
    { description: 'Something may have changed: look at the cluster' },
  );
  setHandler(statusQuery, () => rollout.status(Date.now()), { description: 'What the rollout is doing now' });
  setHandler(
    retryUpdate,
    async (request: RetryRequest) => {
      await condition(() => rollout.isObserved);
      rollout.checkRetry(request);
      return rollout.retry(request);
    },
    {
      validator: (request: RetryRequest) => {
        rollout.checkRetry(request);
      },
      description: 'Start failed replacements again, now',
    },
  );

  for (;;) {
    const observation = await observePool(rollout.nextObservation());
    const admitted = rollout.observed(observation, Date.now());
    await Promise.all(admitted.map((candidate) => startReplacement(candidate, input, rollout)));
    setCurrentDetails(rolloutDetails(rollout.status(Date.now())));
    if (rollout.isQuiet(Date.now()) && allHandlersFinished()) return rollout.result();
    if (shouldContinueAsNew(input)) await goOnAsNew(input, rollout);
    await untilSomethingChanges(rollout);
  }
}

async function untilSomethingChanges(rollout: RolloutState): Promise<void> {
  const sleepMs = rollout.sleepMs(Date.now());
  if (sleepMs === undefined) await condition(() => rollout.isPoked);
  else await condition(() => rollout.isPoked, sleepMs, { summary: 'Look again unless something changes before' });
}

/** Starts one child and has its end reported. One that runs already, whoever started it, is adopted. */
async function startReplacement(candidate: Candidate, input: RolloutInput, rollout: RolloutState): Promise<void> {
  const { cluster, nodePool } = input;
  const { nodeClaim, uid, node, reason, reasonDetail } = candidate;
  const settings = rollout.settings.replacement;
  const args: ReplaceNodeInput = {
    cluster,
    nodePool,
    nodeClaim,
    uid,
    node,
    reason,
    reasonDetail,
    round: rollout.rounds(uid),
    settings,
  };
  rollout.started(candidate);
  try {
    const child = await startChild<typeof replaceNode>('replaceNode', {
      workflowId: replaceNodeWorkflowId(cluster, nodeClaim, uid),
      args: [args],
      // A rollout that ends or is canceled leaves its children to finish: their nodes are half replaced.
      parentClosePolicy: ParentClosePolicy.ABANDON,
      cancellationType: ChildWorkflowCancellationType.ABANDON,
      typedSearchAttributes: [
        { key: searchAttributes.cluster, value: cluster },
        { key: searchAttributes.nodePool, value: nodePool },
        { key: searchAttributes.nodeClaim, value: nodeClaim },
        { key: searchAttributes.disruptionReason, value: reason },
        { key: searchAttributes.phase, value: 'Reserve' },
      ],
      staticSummary: `Replace ${nodeClaim} (${reason}: ${reasonDetail})`,
      staticDetails: `NodeClaim \`${nodeClaim}\` (Node \`${node}\`) of NodePool \`${nodePool}\`, ${reason} since ${candidate.since}: ${reasonDetail}.`,
    });
    void awaitEnd(child).then((end) => {
      if (end !== undefined) rollout.childEnded({ nodeClaim, uid }, end, Date.now());
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    rollout.adopted(candidate);
  }
}

/** How a child of this run ended; undefined when it was this rollout that was canceled: the child lives on. */
async function awaitEnd(child: ChildWorkflowHandle<typeof replaceNode>): Promise<ChildEnd | undefined> {
  try {
    return { kind: 'ended', result: await child.result() };
  } catch (error) {
    if (!(error instanceof ChildWorkflowFailure)) {
      if (isCancellation(error)) return undefined;
      throw error;
    }
    const { cause } = error;
    if (cause instanceof CancelledFailure) return { kind: 'stoppedByHand', code: 'Canceled' };
    if (cause instanceof TerminatedFailure) return { kind: 'stoppedByHand', code: 'Terminated' };
    const code = cause instanceof ApplicationFailure ? (cause.type ?? 'Error') : 'Error';
    return { kind: 'failed', code, message: cause?.message ?? error.message };
  }
}

function shouldContinueAsNew({ continueAsNewAfterEvents }: RolloutInput): boolean {
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  return continueAsNewSuggested || historyLength >= (continueAsNewAfterEvents ?? Infinity);
}

async function goOnAsNew(input: RolloutInput, rollout: RolloutState): Promise<never> {
  await condition(allHandlersFinished);
  return await continueAsNew<typeof nodePoolRollout>({ ...input, carried: rollout.carry() });
}
