import type { WorkflowClient } from '@temporalio/client';
import { setTimeout as delay } from 'node:timers/promises';

import { errorMessage } from '../../runtime/errors.js';
import { rolloutWorkflowId } from '../../workflows/ids.js';
import { retryUpdate, statusQuery } from '../../workflows/messages.js';
import type { nodePoolRollout } from '../../workflows/nodePoolRollout.js';

const lookEveryMs = 2_000;
const askTimeoutMs = 10_000;
/** A rollout that needs a person more often than that does not come to its end by itself. */
export const maxRetries = 10;

/** How a rollout came to rest with a person at its side. */
export interface PersonReport {
  readonly end: 'completed' | 'timedOut' | 'tooManyRetries';
  readonly retries: number;
  /** The last thing that went wrong between person and Temporal, for the report of a run that did not end. */
  readonly lastError: string;
}

interface Situation {
  readonly workflows: WorkflowClient;
  readonly cluster: string;
  readonly nodePool: string;
  /** Whether nothing is left to replace. */
  readonly isAllReplaced: () => Promise<boolean>;
  /** What a person sees to before a retry: that the cause is gone. */
  readonly endCauses: () => Promise<void>;
}

/** Acts as the person whom a halted rollout waits for: retries all that failed, until the rollout has ended and nothing is left. */
export async function attend(situation: Situation, timeoutMs: number): Promise<PersonReport> {
  const deadline = Date.now() + timeoutMs;
  let retries = 0;
  let lastError = '';
  while (Date.now() < deadline) {
    try {
      const step = await look(situation);
      if (step === 'completed') return { end: 'completed', retries, lastError };
      if (step === 'retried') retries += 1;
      if (retries > maxRetries) return { end: 'tooManyRetries', retries, lastError };
    } catch (error) {
      // Temporal or the workers are away: a person would look again.
      lastError = errorMessage(error);
    }
    await delay(lookEveryMs);
  }
  return { end: 'timedOut', retries, lastError };
}

async function look(situation: Situation): Promise<'completed' | 'retried' | 'goesOn'> {
  const { workflows, cluster, nodePool, isAllReplaced, endCauses } = situation;
  const handle = workflows.getHandle<typeof nodePoolRollout>(rolloutWorkflowId(cluster, nodePool));
  return await workflows.connection.withDeadline(Date.now() + askTimeoutMs, async () => {
    const { status } = await handle.describe();
    if (status.name !== 'RUNNING') return (await isAllReplaced()) ? 'completed' : 'goesOn';
    const { halted, failures, inFlight } = await handle.query(statusQuery);
    const waitsForPerson = inFlight.length === 0 && (halted !== null || failures.some(({ held }) => held));
    if (!waitsForPerson) return 'goesOn';
    await endCauses();
    await handle.executeUpdate(retryUpdate, { args: [{ by: 'chaos', why: 'the fault was injected' }] });
    return 'retried';
  });
}
