/**
 * Keeps the order of calls when some of them must wait.
 *
 * Work runs at once unless something is waiting, so a device without fallbacks pays nothing.
 */
export class WorkQueue {
  #tail: Promise<void> | undefined;
  #failure: { error: unknown } | undefined;

  /** True if nothing waits, so added work runs at once. */
  get isIdle(): boolean {
    return this.#tail === undefined;
  }

  /**
   * True if `drain` has nothing to wait for or to throw. Skipping its `await` then keeps the
   * place of the call in the order of the backend's own queue.
   */
  get isClear(): boolean {
    return this.isIdle && this.#failure === undefined;
  }

  /** Runs `work` now, or after everything that still waits. */
  add(work: () => void | Promise<void>): void {
    if (this.#tail === undefined) {
      const pending = work();
      if (pending !== undefined) this.#follow(pending);
      return;
    }
    this.#follow(this.#tail.then(() => (this.#failure === undefined ? work() : undefined)));
  }

  /** Resolves when the queue is empty; throws what went wrong, once. */
  async drain(): Promise<void> {
    while (this.#tail !== undefined) await this.#tail;
    if (this.#failure !== undefined) {
      const { error } = this.#failure;
      this.#failure = undefined;
      throw error;
    }
  }

  #follow(pending: Promise<void>): void {
    const tail = pending
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .then(() => {
        if (this.#tail === tail) this.#tail = undefined;
      });
    this.#tail = tail;
  }
}
