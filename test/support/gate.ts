/** Holds whoever waits for it until the test opens it. */
export class Gate {
  #open: () => void = () => undefined;
  /** Settles when the gate is opened. */
  readonly opened = new Promise<void>((resolve) => {
    this.#open = resolve;
  });

  /** Lets everybody through, from now on. */
  open(): void {
    this.#open();
  }
}
