/**
 * Changes of an engine's weights: one at a time, and doubt about what was answered while one failed. An
 * engine names its weights apart from loading them, so between the two it may name those before.
 */

/** The changes of one engine's weights, as its client knows them. */
export class WeightChanges {
  /** Settles once no change is under way or waits. */
  #end: Promise<unknown> = Promise.resolve();
  #isUnderWay = false;
  #areUnknown = false;
  #failures = 0;

  /** Whether the last change failed: the engine may have any weights. */
  get areUnknown(): boolean {
    return this.#areUnknown;
  }

  /** Changes the weights, after the changes before it. */
  run<Result>(change: () => Promise<Result>): Promise<Result> {
    const changed = this.#end.then(() => this.#change(change));
    this.#end = changed.catch(() => undefined);
    return changed;
  }

  /**
   * To be called before a request. What it returns tells, after the answer and once no change is under
   * way, whether the engine had the weights that it named all the time.
   */
  watch(): () => Promise<boolean> {
    const failures = this.#failures;
    // A request that comes while weights change is answered after it.
    const wereKnown = this.#isUnderWay || !this.#areUnknown;
    return async () => {
      await this.#end;
      return wereKnown && failures === this.#failures;
    };
  }

  async #change<Result>(change: () => Promise<Result>): Promise<Result> {
    this.#isUnderWay = true;
    try {
      const result = await change();
      this.#areUnknown = false;
      return result;
    } catch (error) {
      this.#areUnknown = true;
      this.#failures++;
      throw error;
    } finally {
      this.#isUnderWay = false;
    }
  }
}

/** Changes the weights of several engines at once, once no other change of theirs is under way. */
export async function changeTogether<Result>(
  engines: readonly WeightChanges[],
  change: () => Promise<Result>,
): Promise<Result> {
  let begin = (): void => {};
  const changed = new Promise<void>((resolve) => {
    begin = resolve;
  }).then(change);
  let left = engines.length;
  if (left === 0) begin();
  // Into all queues at once, so that nobody waits for one who waits for them.
  const turns = engines.map((engine) =>
    engine.run(() => {
      if (--left === 0) begin();
      return changed;
    }),
  );
  await Promise.all(turns);
  return await changed;
}
