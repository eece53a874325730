/** Lets so many tasks run at once, the others wait in order: each request in flight is a connection to the API server. */
export class ParallelLimit {
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(private readonly maxRunning: number) {}

  async run(task: () => Promise<void>): Promise<void> {
    if (this.#running >= this.maxRunning) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running += 1;
    try {
      await task();
    } finally {
      // The place is handed on as it is.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}
