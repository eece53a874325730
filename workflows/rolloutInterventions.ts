import type { InFlight } from './activityInterfaces.js';
import type { Asker, Intervention, Pause, Skip, SkipRequest } from './messages.js';

export interface CarriedInterventions {
  readonly paused: Pause | null;
  readonly skipped: readonly Skip[];
  readonly log: readonly Intervention[];
}

/** The record keeps the latest of them. */
const longestLog = 50;
const unnamed: Asker = { by: 'unknown', why: 'not given' };

/** What people asked of a rollout: a pause, NodeClaims to skip, and the record of who did what, and why. */
export class RolloutInterventions {
  readonly #skips = new Map<string, Skip>();
  readonly #log: Intervention[];
  #paused: Pause | null;

  constructor(carried: CarriedInterventions | undefined) {
    this.#paused = carried?.paused ?? null;
    this.#log = [...(carried?.log ?? [])];
    for (const skip of carried?.skipped ?? []) this.#skips.set(skip.uid, skip);
  }

  get paused(): Pause | null {
    return this.#paused;
  }

  get log(): readonly Intervention[] {
    return this.#log;
  }

  get skipped(): readonly Skip[] {
    return [...this.#skips.values()];
  }

  /** A second pause changes nothing: the first one stands. */
  pause(asker: Asker, nowMs: number): Pause {
    if (this.#paused !== null) return this.#paused;
    this.#paused = { by: asker.by, why: asker.why, since: new Date(nowMs).toISOString() };
    this.#record('pause', asker, null, nowMs);
    return this.#paused;
  }

  resume(asker: Asker, nowMs: number): void {
    this.#paused = null;
    this.#record('resume', asker, null, nowMs);
  }

  skip({ nodeClaim, uid }: InFlight, { by, why, until }: SkipRequest, nowMs: number): Skip {
    const skip = { nodeClaim, uid, until: new Date(until).toISOString(), by, why };
    this.#skips.set(uid, skip);
    this.#record('skip', { by, why }, nodeClaim, nowMs);
    return skip;
  }

  /** A retry ends the skip of what it is about. */
  retry(nodeClaim: string | undefined, asker: Partial<Asker>, nowMs: number): void {
    for (const [uid, skip] of this.#skips) {
      if (nodeClaim === undefined || skip.nodeClaim === nodeClaim) this.#skips.delete(uid);
    }
    this.#record('retry', { ...unnamed, ...asker }, nodeClaim ?? null, nowMs);
  }

  cancel(nodeClaim: string | undefined, asker: Asker, nowMs: number): void {
    this.#record('cancel', asker, nodeClaim ?? null, nowMs);
  }

  /** Forgets skips whose end has come. */
  expire(nowMs: number): void {
    for (const [uid, { until }] of this.#skips) if (Date.parse(until) <= nowMs) this.#skips.delete(uid);
  }

  forget(uid: string): void {
    this.#skips.delete(uid);
  }

  carry(): CarriedInterventions {
    return { paused: this.#paused, skipped: this.skipped, log: this.#log };
  }

  #record(what: Intervention['what'], { by, why }: Asker, nodeClaim: string | null, nowMs: number): void {
    this.#log.push({ what, by, why, at: new Date(nowMs).toISOString(), nodeClaim });
    if (this.#log.length > longestLog) this.#log.shift();
  }
}
