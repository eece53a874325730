/**
 * What a simulator saw, in order: the witness that tests and reports use. Entries are never changed. `at` is wall-clock
 * milliseconds since the epoch, with a fraction.
 */
export class AuditLog<Entry extends { readonly at: number }> {
  readonly #entries: Entry[] = [];
  readonly #listeners = new Set<(entry: Entry) => void>();

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  append(entry: Entry): void {
    this.#entries.push(entry);
    for (const listener of this.#listeners) listener(entry);
  }

  /** Calls the listener with every later entry; answers how to stop that. */
  onAppend(listener: (entry: Entry) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** Wall-clock milliseconds since the epoch, with a fraction, so that the entries of two logs can be ordered. */
export function auditNow(): number {
  return performance.timeOrigin + performance.now();
}
