/** The one place where simulated time meets real time: every duration of the simulator is divided by one speed. */
export class SimulatedClock {
  readonly #speed: number;
  readonly #startedAt = performance.now();
  readonly #timers = new Set<NodeJS.Timeout>();
  #closed = false;

  /** @param speed how many simulated seconds pass in a real one; positive */
  constructor(speed: number) {
    if (!(speed > 0)) throw new Error(`speed must be a positive number, not ${speed}`);
    this.#speed = speed;
  }

  /** Simulated milliseconds since the clock was made. */
  get elapsedMs(): number {
    return (performance.now() - this.#startedAt) * this.#speed;
  }

  /** Real milliseconds of a simulated duration. */
  realMs(simulatedMs: number): number {
    return simulatedMs / this.#speed;
  }

  /** Runs the action once, after a simulated duration; answers how to call it off. A closed clock runs nothing. */
  after(simulatedMs: number, action: () => void): () => void {
    if (this.#closed) return () => undefined;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      action();
    }, this.realMs(simulatedMs));
    this.#timers.add(timer);
    return () => {
      clearTimeout(timer);
      this.#timers.delete(timer);
    };
  }

  /** Calls off everything that is still to come. */
  close(): void {
    this.#closed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }
}
