import type { WorkflowClient, WorkflowHandle } from '@temporalio/client';
import { ServiceError, WithStartWorkflowOperation } from '@temporalio/client';
import type { UpdateDefinition } from '@temporalio/common';
import { WorkflowNotFoundError } from '@temporalio/common';

import { errorMessage } from '../runtime/errors.js';
import { rolloutWorkflowId, taskQueueName } from '../workflows/ids.js';
import type { CancelAnswer, CancelRequest, RolloutStatus } from '../workflows/messages.js';
import { cancelUpdate, pokeSignal, statusQuery } from '../workflows/messages.js';
import type { nodePoolRollout } from '../workflows/nodePoolRollout.js';
import type { RolloutInput } from '../workflows/rolloutState.js';
import { searchAttributes } from '../workflows/searchAttributes.js';

/** A worker answers a query within milliseconds. */
const queryTimeoutMs = 10_000;

/** How a pool's rollout is started, by whoever needs it first. */
function rolloutStartOptions(cluster: string, nodePool: string) {
  const args: [RolloutInput] = [{ cluster, nodePool }];
  return {
    workflowId: rolloutWorkflowId(cluster, nodePool),
    taskQueue: taskQueueName(cluster),
    args,
    typedSearchAttributes: [
      { key: searchAttributes.cluster, value: cluster },
      { key: searchAttributes.nodePool, value: nodePool },
    ],
    staticSummary: `Rollout of NodePool ${nodePool}`,
    staticDetails: `Replaces the disrupted nodes of NodePool \`${nodePool}\`, as many at once as its budget allows.`,
  };
}

/** Has a pool's rollout look at the cluster; starts it when none runs. */
export async function pokeRollout(workflows: WorkflowClient, cluster: string, nodePool: string): Promise<void> {
  await workflows.signalWithStart<typeof nodePoolRollout>('nodePoolRollout', {
    ...rolloutStartOptions(cluster, nodePool),
    signal: pokeSignal,
  });
}

/**
 * Sends what a person asks for to a pool's rollout, which is started when none runs, and awaits the answer.
 * @throws WorkflowUpdateFailedError when the rollout refuses; an error of Temporal's when it does not answer
 */
export async function updateRollout<Answer, Request>(
  workflows: WorkflowClient,
  cluster: string,
  nodePool: string,
  update: UpdateDefinition<Answer, [Request]>,
  request: Request,
): Promise<Answer> {
  return await workflows.executeUpdateWithStart(update, {
    args: [request],
    startWorkflowOperation: new WithStartWorkflowOperation<typeof nodePoolRollout>('nodePoolRollout', {
      ...rolloutStartOptions(cluster, nodePool),
      workflowIdConflictPolicy: 'USE_EXISTING',
    }),
  });
}

/**
 * Cancels replacements that are under way.
 * @returns undefined when no rollout runs: then there is nothing to cancel
 * @throws as updateRollout
 */
export async function cancelReplacements(
  workflows: WorkflowClient,
  cluster: string,
  nodePool: string,
  request: CancelRequest,
): Promise<CancelAnswer | undefined> {
  try {
    const rollout = workflows.getHandle<typeof nodePoolRollout>(rolloutWorkflowId(cluster, nodePool));
    return await rollout.executeUpdate(cancelUpdate, { args: [request] });
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/** What there is to be seen of a pool's rollout. */
export type RolloutSight =
  | { readonly kind: 'running'; readonly status: RolloutStatus }
  /** It runs, but nobody answers for it: as a rule since no worker of its cluster runs. */
  | { readonly kind: 'silent'; readonly why: string }
  /** How it ended in Temporal's words, e.g. `COMPLETED`, and when, ISO 8601. */
  | { readonly kind: 'ended'; readonly how: string; readonly at: string | null }
  | { readonly kind: 'never' };

/** Asks a pool's rollout for its status, or Temporal how it ended. */
export async function seeRollout(workflows: WorkflowClient, cluster: string, nodePool: string): Promise<RolloutSight> {
  const rollout = workflows.getHandle<typeof nodePoolRollout>(rolloutWorkflowId(cluster, nodePool));
  try {
    const { status, closeTime } = await rollout.describe();
    if (status.name === 'RUNNING') return await askStatus(workflows, rollout);
    return { kind: 'ended', how: status.name, at: closeTime?.toISOString() ?? null };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { kind: 'never' };
    throw error;
  }
}

async function askStatus(
  workflows: WorkflowClient,
  rollout: WorkflowHandle<typeof nodePoolRollout>,
): Promise<RolloutSight> {
  try {
    const status = await workflows.withDeadline(Date.now() + queryTimeoutMs, () => rollout.query(statusQuery));
    return { kind: 'running', status };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { kind: 'silent', why: errorMessage(error) };
  }
}
