import { setTimeout as delay } from 'node:timers/promises';

import { errorMessage } from '../../runtime/errors.js';
import type { Log } from '../../runtime/log.js';

export interface PokeOptions {
  /** How long pokes of one pool are gathered, in milliseconds: a rollout is not told the same thing a hundred times. */
  readonly gatherMs: number;
  /** First wait after a poke that failed; doubles up to thirty times that. */
  readonly retryDelayMs: number;
  readonly send: (nodePool: string) => Promise<void>;
  readonly log: Log;
}

/** Pokes the rollouts of pools: gathered, one at a time for each pool, and tried until they arrive. */
export class Pokes {
  /** Pools with a poke on its way, and whether another one is due after it. */
  readonly #underWay = new Map<string, { again: boolean }>();
  readonly #sending = new Set<Promise<void>>();
  readonly #stopping = new AbortController();

  constructor(private readonly options: PokeOptions) {}

  /** Has the pool's rollout look at the cluster, soon. */
  poke(nodePool: string): void {
    const underWay = this.#underWay.get(nodePool);
    if (underWay !== undefined) {
      underWay.again = true;
      return;
    }
    if (this.#stopping.signal.aborted) return;
    const sending = this.#send(nodePool).finally(() => this.#sending.delete(sending));
    this.#sending.add(sending);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#sending);
  }

  async #send(nodePool: string): Promise<void> {
    const state = { again: true };
    this.#underWay.set(nodePool, state);
    while (state.again) {
      await this.#pause(this.options.gatherMs);
      if (this.#isStopped()) break;
      state.again = false;
      await this.#sendUntilItArrives(nodePool);
    }
    this.#underWay.delete(nodePool);
  }

  async #sendUntilItArrives(nodePool: string): Promise<void> {
    const { send, retryDelayMs, log } = this.options;
    for (let failures = 0; ; failures += 1) {
      if (failures > 0) await this.#pause(retryDelayMs * Math.min(2 ** (failures - 1), 30));
      if (this.#isStopped()) return;
      try {
        await send(nodePool);
        log.info({ nodePool }, 'rollout poked');
        return;
      } catch (error) {
        log.warn({ nodePool, failures: failures + 1, error: errorMessage(error) }, 'poke failed');
      }
    }
  }

  #isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  async #pause(ms: number): Promise<void> {
    // Rejects only when stopped, which the loops above look at.
    await delay(ms, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }
}
