import { failureTypes } from './failures.js';
import type { RolloutSettings } from './settings.js';

export interface CarriedBackoff {
  readonly failuresInARow: number;
  readonly untilMs: number;
  readonly halted: string | null;
}

/** One bad pool waits, longer each time; after so many failures in a row it waits for a person. */
export class RolloutBackoff {
  #failuresInARow: number;
  #untilMs: number;
  #halted: string | null;

  constructor(carried: CarriedBackoff | undefined) {
    this.#failuresInARow = carried?.failuresInARow ?? 0;
    this.#untilMs = carried?.untilMs ?? 0;
    this.#halted = carried?.halted ?? null;
  }

  /** Nothing starts before this instant, epoch milliseconds. */
  get untilMs(): number {
    return this.#untilMs;
  }

  /** Why nothing starts any more until somebody retries, if that is so. */
  get halted(): string | null {
    return this.#halted;
  }

  mayStart(nowMs: number): boolean {
    return this.#halted === null && nowMs >= this.#untilMs;
  }

  /** @param code what failed: a replacement that is born drifted halts at once, since the next one would be too */
  failed(code: string, message: string, nowMs: number, settings: RolloutSettings): void {
    this.#failuresInARow += 1;
    const fullMs = Math.min(settings.backoffMs * 2 ** (this.#failuresInARow - 1), settings.backoffMaxMs);
    // Workflow code's Math.random is seeded: the same on replay.
    this.#untilMs = nowMs + fullMs * (0.8 + 0.2 * Math.random());
    if (code === failureTypes.bornDrifted) {
      this.#halted = `${message}; retry when the cause is gone`;
    } else if (this.#failuresInARow >= settings.haltAfterFailures) {
      this.#halted = `${this.#failuresInARow} replacements in a row failed, the last with ${code}; retry when the cause is gone`;
    }
  }

  succeeded(): void {
    this.#failuresInARow = 0;
  }

  /** A person says that the cause is gone. */
  reset(): void {
    this.#failuresInARow = 0;
    this.#untilMs = 0;
    this.#halted = null;
  }

  carry(): CarriedBackoff {
    return { failuresInARow: this.#failuresInARow, untilMs: this.#untilMs, halted: this.#halted };
  }
}
