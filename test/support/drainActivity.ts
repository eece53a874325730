import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';

import { drain } from '../../activities/drain.js';
import type { ActivityEnvironment } from '../../activities/environment.js';
import type { DrainFailureDetails } from '../../workflows/failures.js';
import type { Launch, ReplacementRef } from '../../workflows/replacementTypes.js';

/** The delay that Temporal chooses where a failure names none. */
const pauseMs = 5;

/** How one attempt of the activity ended. */
export type Attempt =
  | { readonly kind: 'drained' }
  | { readonly kind: 'waiting'; readonly message: string; readonly delayMs: number; readonly evictionBegan: unknown }
  | { readonly kind: 'failed'; readonly type: string; readonly message: string; readonly evictionBegan: unknown };

export interface DrainedNode {
  readonly ref: ReplacementRef;
  /** null: the node was empty. */
  readonly launch: Launch | null;
}

/** The activity `drain`, as Temporal runs it: an attempt after the other, with the heartbeat details of the one before. */
export class DrainActivity {
  readonly #scheduledAtMs = Date.now();
  #attempts = 0;
  #heartbeatDetails: unknown;

  constructor(
    private readonly environment: ActivityEnvironment,
    private readonly node: DrainedNode,
    private readonly paused: DrainFailureDetails | null = null,
  ) {}

  /** One attempt. */
  async attempt(): Promise<Attempt> {
    this.#attempts += 1;
    const temporal = new MockActivityEnvironment(
      {
        attempt: this.#attempts,
        heartbeatDetails: this.#heartbeatDetails,
        scheduledTimestampMs: this.#scheduledAtMs,
        scheduleToCloseTimeoutMs: this.environment.settings.replacement.drainTimeoutMs,
      },
      { logger: new DefaultLogger('ERROR') },
    );
    temporal.on('heartbeat', (details: unknown) => {
      this.#heartbeatDetails = JSON.parse(JSON.stringify(details));
    });
    try {
      await temporal.run(drain, this.environment, this.node.ref, this.node.launch, this.paused);
      return { kind: 'drained' };
    } catch (error) {
      return attemptOf(error);
    }
  }

  /** A worker was lost in the middle of an attempt: what it did stays, what it knew is gone. */
  loseAttempt(): void {
    this.#attempts += 1;
  }

  /** Attempts, each after the delay that the one before has asked for, until the drain has ended or an attempt is as wanted. */
  async until(isIt: (attempt: Attempt) => boolean = () => false): Promise<Attempt> {
    for (;;) {
      const attempt = await this.attempt();
      if (attempt.kind !== 'waiting' || isIt(attempt)) return attempt;
      await new Promise((resolve) => setTimeout(resolve, attempt.delayMs));
    }
  }
}

function attemptOf(error: unknown): Attempt {
  if (!(error instanceof ApplicationFailure)) throw error;
  const { message, type, nonRetryable } = error;
  const details: unknown = error.details?.[0];
  const evictionBegan: unknown =
    typeof details === 'object' && details !== null ? Reflect.get(details, 'evictionBegan') : undefined;
  if (nonRetryable === true) return { kind: 'failed', type: type ?? '', message, evictionBegan };
  const nextRetryDelay: unknown = error.nextRetryDelay;
  return {
    kind: 'waiting',
    message,
    delayMs: typeof nextRetryDelay === 'number' ? nextRetryDelay : pauseMs,
    evictionBegan,
  };
}

/** What an attempt that waits, or failed, says; empty when the node is drained. */
export function messageOf(attempt: Attempt): string {
  return attempt.kind === 'drained' ? '' : attempt.message;
}
