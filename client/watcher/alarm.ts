/** The longest that a timer of Node.js can wait. */
const longestMs = 2 ** 31 - 1;

/** Rings for each key at its instant; a new instant for a key replaces the old one. */
export class Alarm {
  readonly #dueMs = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #timerDueMs = Infinity;

  constructor(private readonly ring: (key: string) => void) {}

  /** @param dueMs epoch milliseconds; undefined: never. An instant that has passed does not ring. */
  set(key: string, dueMs: number | undefined): void {
    if (dueMs === undefined || dueMs <= Date.now()) {
      this.#dueMs.delete(key);
      return;
    }
    this.#dueMs.set(key, dueMs);
    if (dueMs < this.#timerDueMs) this.#arm(dueMs);
  }

  delete(key: string): void {
    this.#dueMs.delete(key);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#dueMs.clear();
  }

  #arm(dueMs: number): void {
    clearTimeout(this.#timer);
    this.#timerDueMs = dueMs;
    this.#timer = setTimeout(
      () => {
        this.#fire();
      },
      Math.min(Math.max(0, dueMs - Date.now()), longestMs),
    );
  }

  #fire(): void {
    const now = Date.now();
    this.#timerDueMs = Infinity;
    for (const [key, dueMs] of this.#dueMs) {
      if (dueMs > now) continue;
      this.#dueMs.delete(key);
      this.ring(key);
    }
    const nextMs = Math.min(...this.#dueMs.values());
    if (nextMs !== Infinity) this.#arm(nextMs);
  }
}
