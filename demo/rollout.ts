import type { WorkflowClient } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import { setTimeout as delay } from 'node:timers/promises';

import { rolloutWorkflowId } from '../workflows/ids.js';
import { statusQuery } from '../workflows/messages.js';
import type { RolloutFailure } from '../workflows/messages.js';

/** How a rollout came to rest. */
export type RolloutEnd =
  | { readonly kind: 'completed' }
  /** It waits for a person. */
  | { readonly kind: 'waitsForPerson'; readonly why: string; readonly failures: readonly RolloutFailure[] }
  | { readonly kind: 'timedOut' };

const lookEveryMs = 250;

/** Waits until the rollout of a pool has ended, or waits for a person with nothing in flight. */
export async function untilRolloutRests(
  workflows: WorkflowClient,
  cluster: string,
  nodePool: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<RolloutEnd> {
  const handle = workflows.getHandle(rolloutWorkflowId(cluster, nodePool));
  const deadline = Date.now() + timeoutMs;
  while (Date.now() < deadline) {
    signal.throwIfAborted();
    try {
      const { status } = await handle.describe();
      if (status.name === 'COMPLETED') return { kind: 'completed' };
      if (status.name !== 'RUNNING')
        return { kind: 'waitsForPerson', why: `the rollout is ${status.name}`, failures: [] };
      const { halted, failures, inFlight } = await handle.query(statusQuery);
      const isHeld = failures.some(({ held }) => held);
      if (inFlight.length === 0 && (halted !== null || isHeld)) {
        return { kind: 'waitsForPerson', why: halted ?? 'stopped by hand', failures };
      }
    } catch (error) {
      // The watcher has not started it yet.
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
    await delay(lookEveryMs, undefined, { signal });
  }
  return { kind: 'timedOut' };
}
