import { errorMessage } from '../../runtime/errors.js';
import type { Log } from '../../runtime/log.js';
import { isOutOfDate } from './apiErrors.js';
import type { ParallelLimit } from './parallelLimit.js';

/** Real time, whatever the speed of the simulation: these wait for the API server, not for anything simulated. */
const outOfDateRetryMs = 10;
const failureRetryMs = 100;
const maxRetryMs = 5_000;

interface Alarm {
  readonly dueAtMs: number;
  readonly timer: NodeJS.Timeout;
}

/**
 * A work queue of keys. Each key is reconciled after it was enqueued, never twice at the same time; one that is enqueued while it is
 * worked on is done again afterwards. A failed one is tried again, later each time. Nothing is done before `start`.
 */
export class Reconciler {
  readonly #queued = new Set<string>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #alarms = new Map<string, Alarm>();
  readonly #failures = new Map<string, number>();
  #state: 'waiting' | 'started' | 'stopped' = 'waiting';
  #pump: NodeJS.Immediate | undefined;

  constructor(
    private readonly reconcile: (key: string) => Promise<void>,
    private readonly log: Log,
    /** Shared by those that use one API client. */
    private readonly limit: ParallelLimit,
  ) {}

  start(): void {
    if (this.#state !== 'waiting') return;
    this.#state = 'started';
    this.#wake();
  }

  /** Ends the timers and waits for the keys that are worked on. */
  async stop(): Promise<void> {
    this.#state = 'stopped';
    this.#queued.clear();
    for (const { timer } of this.#alarms.values()) clearTimeout(timer);
    this.#alarms.clear();
    clearImmediate(this.#pump);
    await Promise.all(this.#running.values());
  }

  enqueue(key: string): void {
    if (this.#state === 'stopped') return;
    this.#queued.add(key);
    this.#wake();
  }

  /** Enqueues the key in so many (real) milliseconds, or earlier when it is due earlier already. */
  enqueueAfter(key: string, delayMs: number): void {
    if (this.#state === 'stopped') return;
    const dueAtMs = performance.now() + delayMs;
    const present = this.#alarms.get(key);
    if (present !== undefined && present.dueAtMs <= dueAtMs) return;
    clearTimeout(present?.timer);
    const timer = setTimeout(() => {
      this.#alarms.delete(key);
      this.enqueue(key);
    }, delayMs);
    this.#alarms.set(key, { dueAtMs, timer });
  }

  /** In a later turn, so that events that arrive together lead to one reconcile. */
  #wake(): void {
    if (this.#state !== 'started' || this.#pump !== undefined) return;
    this.#pump = setImmediate(() => {
      this.#pump = undefined;
      this.#startQueued();
    });
  }

  #startQueued(): void {
    for (const key of this.#queued) {
      if (this.#running.has(key)) continue;
      this.#queued.delete(key);
      this.#running.set(key, this.#run(key));
    }
  }

  async #run(key: string): Promise<void> {
    try {
      await this.limit.run(() => this.#reconcileUnlessStopped(key));
      this.#failures.delete(key);
    } catch (error) {
      this.#retry(key, error);
    } finally {
      this.#running.delete(key);
      if (this.#queued.size > 0) this.#wake();
    }
  }

  async #reconcileUnlessStopped(key: string): Promise<void> {
    if (this.#state !== 'stopped') await this.reconcile(key);
  }

  #retry(key: string, error: unknown): void {
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    const outOfDate = isOutOfDate(error);
    const firstDelayMs = outOfDate ? outOfDateRetryMs : failureRetryMs;
    if (outOfDate) this.log.debug({ key, failures, error: errorMessage(error) }, 'out of date, looking again');
    else this.log.warn({ key, failures, error: errorMessage(error) }, 'reconcile failed, trying again');
    this.enqueueAfter(key, Math.min(firstDelayMs * 2 ** (failures - 1), maxRetryMs));
  }
}
