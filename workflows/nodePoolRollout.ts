import {
  allHandlersFinished,
  CancellationScope,
  ChildWorkflowCancellationType,
  condition,
  continueAsNew,
  log,
  ParentClosePolicy,
  proxyActivities,
  setCurrentDetails,
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
import { summarizeFailure } from './failures.js';
import { heartbeatTimeout } from './heartbeatTimeout.js';
import { replaceNodeWorkflowId } from './ids.js';
import type { RolloutResult } from './messages.js';
import type { replaceNode } from './replaceNode.js';
import type { ReplaceNodeInput } from './replacementTypes.js';
import { rolloutDetails } from './rolloutDetails.js';
import { setHandlers } from './rolloutHandlers.js';
import { RolloutState } from './rolloutState.js';
import type { ChildEnd, RolloutInput } from './rolloutState.js';
import { searchAttributes } from './searchAttributes.js';
import { summaryText } from './summaryText.js';

const { observePool } = proxyActivities<RolloutActivities>({
  startToCloseTimeout: '1 minute',
  heartbeatTimeout,
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' },
  summary: 'Read the pool, decide who may start',
});
const { markWaiting } = proxyActivities<RolloutActivities>({
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout,
  retry: { maximumAttempts: 3 },
  summary: 'Put the soft taint on nodes that wait',
});

/**
 * One NodePool's run of replacements: keeps as many of them in flight as the pool's disruption budget allows. The permits are read
 * from the live cluster at each wake; this workflow adds what only it knows: its children, their failures, what people asked for.
 * Canceled, it admits nobody any more and waits for its children; what becomes of them is for the update `cancel`.
 */
export async function nodePoolRollout(input: RolloutInput): Promise<RolloutResult> {
  const rollout = new RolloutState(input);
  setHandlers(input, rollout);
  const { cancelRequested } = CancellationScope.current();
  cancelRequested.catch(() => {
    rollout.cancel();
  });
  const result = await CancellationScope.nonCancellable(() => run(input, rollout));
  return rollout.isCanceled ? await cancelRequested : result;
}

async function run(input: RolloutInput, rollout: RolloutState): Promise<RolloutResult> {
  const marking = new Marking(rollout);
  for (;;) {
    const observation = await observePool(rollout.nextObservation(Date.now()));
    const admitted = rollout.observed(observation, Date.now());
    await Promise.all(admitted.map((candidate) => startReplacement(candidate, input, rollout)));
    marking.begin();
    setCurrentDetails(rolloutDetails(rollout.status(Date.now())));
    if (isAtEnd(rollout)) {
      await condition(() => allHandlersFinished() && marking.isIdle);
      // Who has asked for something meanwhile is served first.
      if (isAtEnd(rollout)) return rollout.result();
      continue;
    }
    if (shouldContinueAsNew(input, rollout)) {
      await condition(() => allHandlersFinished() && marking.isIdle);
      // The cancellation may have come only now.
      if (shouldContinueAsNew(input, rollout))
        await continueAsNew<typeof nodePoolRollout>({ ...input, carried: rollout.carry() });
    }
    await untilSomethingChanges(rollout);
  }
}

function isAtEnd(rollout: RolloutState): boolean {
  return rollout.isCanceled ? rollout.children.length === 0 : rollout.isQuiet(Date.now());
}

/** The soft taint of those that wait is written beside everything else: nobody waits for it, and a failure is only a pod moved twice. */
class Marking {
  #running: Promise<void> | undefined;

  constructor(private readonly rollout: RolloutState) {}

  begin(): void {
    if (!this.rollout.hasMarksToChange || this.#running !== undefined) return;
    this.#running = this.#mark().finally(() => {
      this.#running = undefined;
    });
  }

  async #mark(): Promise<void> {
    try {
      await markWaiting(this.rollout.line());
      this.rollout.marksChanged();
    } catch (error) {
      log.warn('nodes that wait could not be marked', { error: summarizeFailure(error).message });
    }
  }

  get isIdle(): boolean {
    return this.#running === undefined;
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
  const started = rollout.started(candidate);
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
      staticSummary: summaryText(`Replace ${nodeClaim} (${reason}: ${reasonDetail})`),
      staticDetails: `NodeClaim \`${nodeClaim}\` (Node \`${node}\`) of NodePool \`${nodePool}\`, ${reason}${candidate.since === '' ? '' : ` since ${candidate.since}`}: ${reasonDetail}.`,
    });
    void awaitEnd(child).then((end) => {
      rollout.awaitedEnded(started, end, Date.now());
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    rollout.adopted(candidate);
  }
}

async function awaitEnd(child: ChildWorkflowHandle<typeof replaceNode>): Promise<ChildEnd> {
  try {
    return { kind: 'ended', result: await child.result() };
  } catch (error) {
    if (!(error instanceof ChildWorkflowFailure)) throw error;
    const { cause } = error;
    if (cause instanceof CancelledFailure) return { kind: 'stoppedByHand', code: 'Canceled' };
    if (cause instanceof TerminatedFailure) return { kind: 'stoppedByHand', code: 'Terminated' };
    const code = cause instanceof ApplicationFailure ? (cause.type ?? 'Error') : 'Error';
    return { kind: 'failed', code, message: cause?.message ?? error.message };
  }
}

/** A canceled rollout ends in the run that was canceled: only that one can end as canceled. */
function shouldContinueAsNew({ continueAsNewAfterEvents }: RolloutInput, { isCanceled }: RolloutState): boolean {
  if (isCanceled) return false;
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  return continueAsNewSuggested || historyLength >= (continueAsNewAfterEvents ?? Infinity);
}
