import type { WorkflowClient, WorkflowHandle } from '@temporalio/client';
import { WorkflowFailedError } from '@temporalio/client';
import { workflowMetadataQuery } from '@temporalio/workflow';

import { until } from '../../demo/until.js';
import { replaceNodeWorkflowId, taskQueueName } from '../../workflows/ids.js';
import type { replaceNode } from '../../workflows/replaceNode.js';
import type { ReplaceNodeInput } from '../../workflows/replacementTypes.js';
import { searchAttributes } from '../../workflows/searchAttributes.js';
import type { ReplacementSettings } from '../../workflows/settings.js';

export const replacementSettings: ReplacementSettings = {
  launchTimeoutMs: 60_000,
  registrationTtlMs: 60_000,
  initializeTimeoutMs: 60_000,
  drainTimeoutMs: 60_000,
  detachTimeoutMs: 60_000,
  deleteTimeoutMs: 60_000,
  attemptTimeoutMs: 30_000,
  waitIntervalMs: 20,
  pollIntervalMs: 20,
};

/** The UID that the tests give a NodeClaim. */
export function uidOf(nodeClaim: string): string {
  return `uid-${nodeClaim}`;
}

/** Starts the replacement of one NodeClaim as a person would, without a rollout. */
export async function startReplacement(
  workflows: WorkflowClient,
  cluster: string,
  nodePool: string,
  nodeClaim: string,
  settings: Partial<ReplacementSettings> = {},
): Promise<WorkflowHandle<typeof replaceNode>> {
  const uid = uidOf(nodeClaim);
  const input: ReplaceNodeInput = {
    cluster,
    nodePool,
    nodeClaim,
    uid,
    node: `node-${nodeClaim}`,
    reason: 'Drifted',
    reasonDetail: 'ImageDrift',
    round: 0,
    settings: { ...replacementSettings, ...settings },
  };
  return await workflows.start<typeof replaceNode>('replaceNode', {
    workflowId: replaceNodeWorkflowId(cluster, nodeClaim, uid),
    taskQueue: taskQueueName(cluster),
    args: [input],
    typedSearchAttributes: [{ key: searchAttributes.phase, value: 'Reserve' }],
  });
}

/** What a workflow that did not complete ended with. */
export async function failureOf(handle: { result(): Promise<unknown> }): Promise<Error | undefined> {
  try {
    await handle.result();
  } catch (error) {
    if (error instanceof WorkflowFailedError) return error.cause;
    throw error;
  }
  throw new Error('the workflow has completed, it should not have');
}

/** What Temporal shows of a workflow: its status, and the search attributes that change. */
export async function shown(handle: Pick<WorkflowHandle, 'describe'>): Promise<{
  readonly status: string;
  readonly phase: string | undefined;
  readonly errorCode: string | undefined;
}> {
  const { status, typedSearchAttributes } = await handle.describe();
  return {
    status: status.name,
    phase: typedSearchAttributes.get(searchAttributes.phase),
    errorCode: typedSearchAttributes.get(searchAttributes.errorCode),
  };
}

/** What the UI shows as current details. */
export async function currentDetails(handle: Pick<WorkflowHandle, 'query'>): Promise<string> {
  const { currentDetails: details } = await handle.query(workflowMetadataQuery);
  return details ?? '';
}

/** Waits until the current details say something; answers all that they say. */
export async function untilDetails(handle: Pick<WorkflowHandle, 'query'>, text: string): Promise<string> {
  return await until(`current details with "${text}"`, 30_000, async () => {
    const details = await currentDetails(handle);
    return details.includes(text) ? details : undefined;
  });
}
