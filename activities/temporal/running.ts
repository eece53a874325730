import type { WorkflowClient } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';

/** Whether a workflow of that id is at work, whichever run. */
export async function isWorkflowRunning(workflows: WorkflowClient, workflowId: string): Promise<boolean> {
  try {
    const { status } = await workflows.getHandle(workflowId).describe();
    return status.name === 'RUNNING' || status.name === 'PAUSED' || status.name === 'CONTINUED_AS_NEW';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
