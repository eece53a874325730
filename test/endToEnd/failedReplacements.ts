import { WorkflowFailedError } from '@temporalio/client';

import type { ReportedCaseRun } from './reportedCaseRun.js';

/** Why each replacement failed that did, a line each: one that was tried again with success stands in no report. */
export async function failedReplacements({ workflows, stack }: ReportedCaseRun): Promise<string[]> {
  const query = `Cluster = "${stack.clusterId}" AND WorkflowType = "replaceNode" AND ExecutionStatus = "Failed"`;
  const failures: string[] = [];
  for await (const { workflowId, runId } of workflows.list({ query })) {
    const error: unknown = await workflows
      .getHandle(workflowId, runId)
      .result()
      .catch((reason: unknown) => reason);
    const why = error instanceof WorkflowFailedError ? error.cause : error;
    failures.push(`${workflowId}: ${String(why)}`);
  }
  return failures;
}
