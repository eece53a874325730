/** Remembers since when something has been the case. */
export class Since {
  readonly #startedAtMs = new Map<string, number>();

  /** Real milliseconds since this was first asked about that key. */
  elapsedMs(key: string): number {
    const now = performance.now();
    const startedAtMs = this.#startedAtMs.get(key);
    if (startedAtMs !== undefined) return now - startedAtMs;
    this.#startedAtMs.set(key, now);
    return 0;
  }

  forget(key: string): void {
    this.#startedAtMs.delete(key);
  }
}
