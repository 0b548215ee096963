/** Results of a pure function of a text, kept for the texts that were asked for last. */

/** Texts that are kept, and the longest of them: a megabyte or two at most. */
const MOST_TEXTS = 256;
const LONGEST_TEXT = 4096;

/** Remembers results by text; the text unused for longest is forgotten first. */
export class RecentResults<Result> {
  readonly #kept = new Map<string, Result>();
  readonly #most: number;

  /** @param most texts whose results are kept */
  constructor(most: number = MOST_TEXTS) {
    this.#most = most;
  }

  /**
   * The result of `make` for a text, the same object each time: do not write to it. What `make` throws
   * is not kept.
   */
  of(text: string, make: () => Result): Result {
    if (text.length > LONGEST_TEXT) return make();
    const known = this.#kept.get(text);
    const result = known ?? make();
    this.#kept.delete(text);
    this.#kept.set(text, result);
    if (this.#kept.size > this.#most) this.#kept.delete(this.#kept.keys().next().value as string);
    return result;
  }
}
