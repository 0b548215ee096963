/** A gate that a run passes between updates, and that can be shut. */
export class PauseGate {
  #opened: Promise<void> = Promise.resolve();
  #open: () => void = () => {};
  #isShut = false;

  shut(): void {
    if (this.#isShut) return;
    this.#isShut = true;
    this.#opened = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  open(): void {
    this.#isShut = false;
    this.#open();
  }

  /** Resolves at once, or when the gate is opened. */
  pass(): Promise<void> {
    return this.#opened;
  }
}
