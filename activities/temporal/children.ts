import type { WorkflowClient } from '@temporalio/client';
import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure, WorkflowNotFoundError } from '@temporalio/common';

import type { ChildReport, InFlight } from '../../workflows/activityInterfaces.js';
import { replaceNodeWorkflowId } from '../../workflows/ids.js';
import type { replaceNode } from '../../workflows/replaceNode.js';

/** So many at once: a rollout may have hundreds of children. */
const concurrency = 20;

/** A killed worker costs one or two attempts of a workflow task; a workflow whose code fails has no end of them. */
const usualAttempts = 3;

/** Describes children by workflow id alone: after a reset the run that lives is another than the one that was started. */
export async function describeChildren(
  workflows: WorkflowClient,
  cluster: string,
  children: readonly InFlight[],
): Promise<readonly ChildReport[]> {
  const reports: ChildReport[] = [];
  for (let at = 0; at < children.length; at += concurrency) {
    const some = children.slice(at, at + concurrency);
    reports.push(...(await Promise.all(some.map((child) => describeChild(workflows, cluster, child)))));
  }
  return reports;
}

async function describeChild(
  workflows: WorkflowClient,
  cluster: string,
  { nodeClaim, uid }: InFlight,
): Promise<ChildReport> {
  const handle = workflows.getHandle<typeof replaceNode>(replaceNodeWorkflowId(cluster, nodeClaim, uid));
  try {
    const { status, raw } = await handle.describe();
    switch (status.name) {
      case 'COMPLETED':
        return { nodeClaim, uid, status: 'completed', result: await handle.result() };
      case 'FAILED':
        return { nodeClaim, uid, status: 'failed', ...(await failureOf(() => handle.result())) };
      case 'TIMED_OUT':
        return { nodeClaim, uid, status: 'failed', code: 'TimedOut', message: 'the workflow timed out' };
      case 'CANCELLED':
        return { nodeClaim, uid, status: 'canceled' };
      case 'TERMINATED':
        return { nodeClaim, uid, status: 'terminated' };
      case 'RUNNING':
      case 'PAUSED':
      case 'CONTINUED_AS_NEW':
      case 'UNKNOWN':
      case 'UNSPECIFIED':
        // What is not known to have ended holds its permit.
        return { nodeClaim, uid, status: 'running', ...whyStuck(raw.pendingWorkflowTask?.attempt ?? 0) };
    }
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { nodeClaim, uid, status: 'notFound' };
    throw error;
  }
}

function whyStuck(attempt: number): Pick<ChildReport, 'stuck'> {
  if (attempt <= usualAttempts) return {};
  return { stuck: `its workflow task has failed ${attempt - 1} times in a row, the Temporal UI says why` };
}

async function failureOf(result: () => Promise<unknown>): Promise<{ code: string; message: string }> {
  try {
    await result();
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    const { cause } = error;
    const code = cause instanceof ApplicationFailure ? (cause.type ?? 'Error') : 'Error';
    return { code, message: cause?.message ?? error.message };
  }
  // It was reset between the two questions and has succeeded since: the next look will say so.
  return { code: 'Error', message: 'failed, then reset' };
}
