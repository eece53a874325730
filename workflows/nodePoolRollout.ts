import {
  allHandlersFinished,
  CancellationScope,
  ChildWorkflowCancellationType,
  condition,
  continueAsNew,
  getExternalWorkflowHandle,
  log,
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
import type { CancelRequest, RetryRequest, RolloutResult, SkipRequest } from './messages.js';
import type { replaceNode } from './replaceNode.js';
import type { ReplaceNodeInput } from './replacementTypes.js';
import { checkAsker, checkCancelRequest, checkRetryRequest, checkSkipRequest } from './requests.js';
import { rolloutDetails } from './rolloutDetails.js';
import { RolloutState } from './rolloutState.js';
import type { ChildEnd, RolloutInput } from './rolloutState.js';
import { searchAttributes } from './searchAttributes.js';

const { observePool } = proxyActivities<RolloutActivities>({
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' },
  summary: 'Read the pool, decide who may start',
});
const { markWaiting } = proxyActivities<RolloutActivities>({
  startToCloseTimeout: '5 minutes',
  retry: { maximumAttempts: 3 },
  summary: 'Put the soft taint on nodes that wait',
});
const { findNodeClaim } = proxyActivities<RolloutActivities>({
  startToCloseTimeout: '15 seconds',
  scheduleToCloseTimeout: '1 minute',
  summary: 'Find the NodeClaim that a person names',
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
    const isAtEnd = rollout.isCanceled ? rollout.children.length === 0 : rollout.isQuiet(Date.now());
    if (isAtEnd && allHandlersFinished()) {
      await marking.ended();
      return rollout.result();
    }
    // A canceled rollout ends in the run that was canceled: only that one can end as canceled.
    if (!rollout.isCanceled && shouldContinueAsNew(input)) {
      await marking.ended();
      await goOnAsNew(input, rollout);
    }
    await untilSomethingChanges(rollout);
  }
}

/** One that has ended in the meantime needs no cancel any more. */
async function cancelChild(workflowId: string): Promise<void> {
  try {
    await getExternalWorkflowHandle(workflowId).cancel();
  } catch (error) {
    log.info('nothing to cancel', { workflowId, error: summarizeFailure(error).message });
  }
}

/** The soft taint of those that wait is written beside everything else: nobody waits for it, and a failure is only a pod moved twice. */
class Marking {
  #running: Promise<void> | undefined;

  constructor(private readonly rollout: RolloutState) {}

  begin(): void {
    if (!this.rollout.hasMarksToChange || this.#running !== undefined) return;
    this.#running = markWaiting(this.rollout.line())
      .catch((error: unknown) => {
        log.warn('nodes that wait could not be marked', { error: summarizeFailure(error).message });
      })
      .then(() => {
        this.#running = undefined;
      });
  }

  async ended(): Promise<void> {
    await this.#running;
  }
}

function setHandlers(input: RolloutInput, rollout: RolloutState): void {
  const { cluster, nodePool } = input;
  const find = (nodeClaim: string): Promise<InFlight> => findNodeClaim({ cluster, nodePool, nodeClaim });
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
    async (request) => {
      await condition(() => rollout.isObserved);
      rollout.checkRetry(request);
      return rollout.retry(request, Date.now());
    },
    {
      validator: (request: RetryRequest) => {
        checkRetryRequest(request);
        rollout.checkRetry(request);
      },
      description: 'Start failed replacements again, now: {} or {"nodeClaim", "by", "why"}',
    },
  );
  setHandler(pauseUpdate, (request) => rollout.pause(request, Date.now()), {
    validator: checkAsker,
    description: 'Start nothing any more: {"by", "why"}',
  });
  setHandler(
    resumeUpdate,
    (request) => {
      rollout.resume(request, Date.now());
    },
    { validator: checkAsker, description: 'Go on after a pause: {"by", "why"}' },
  );
  setHandler(skipUpdate, async (request) => rollout.skip(await find(request.nodeClaim), request, Date.now()), {
    validator: (request: SkipRequest) => {
      checkSkipRequest(request, Date.now());
    },
    description: 'Leave a NodeClaim alone for a while: {"nodeClaim", "until", "by", "why"}',
  });
  setHandler(
    cancelUpdate,
    async (request) => {
      const children = rollout.cancelable(request, Date.now());
      await Promise.all(
        children.map(({ nodeClaim, uid }) => cancelChild(replaceNodeWorkflowId(cluster, nodeClaim, uid))),
      );
      return { canceled: children.map(({ nodeClaim }) => nodeClaim) };
    },
    {
      validator: (request: CancelRequest) => {
        checkCancelRequest(request);
        rollout.checkCancel(request);
      },
      description: 'Cancel replacements that are under way: {"by", "why"} or {"nodeClaim", "by", "why"}',
    },
  );
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
      staticDetails: `NodeClaim \`${nodeClaim}\` (Node \`${node}\`) of NodePool \`${nodePool}\`, ${reason}${candidate.since === '' ? '' : ` since ${candidate.since}`}: ${reasonDetail}.`,
    });
    void awaitEnd(child).then((end) => {
      rollout.childEnded({ nodeClaim, uid }, end, Date.now());
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

function shouldContinueAsNew({ continueAsNewAfterEvents }: RolloutInput): boolean {
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  return continueAsNewSuggested || historyLength >= (continueAsNewAfterEvents ?? Infinity);
}

async function goOnAsNew(input: RolloutInput, rollout: RolloutState): Promise<never> {
  await condition(allHandlersFinished);
  return await continueAsNew<typeof nodePoolRollout>({ ...input, carried: rollout.carry() });
}
