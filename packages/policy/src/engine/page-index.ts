/** Finds full pages of the cache by what they hold: the same tokens and images after the same ones. */

/** The place of a context's first page. */
export const NO_PAGE = -1;

export class PageIndex {
  readonly #pages = new Map<string, number>();
  readonly #keys = new Map<number, string>();

  /** The page with this content behind `parent`, which stands for all that is before it. */
  find(parent: number, content: string): number | undefined {
    return this.#pages.get(`${parent}:${content}`);
  }

  /** Lets others find a page. Where one with its content is known, that one stays. */
  add(parent: number, page: number, content: string): void {
    const key = `${parent}:${content}`;
    if (this.#pages.has(key)) return;
    this.#pages.set(key, page);
    this.#keys.set(page, key);
  }

  /** A page is free, and will hold something else. Those behind it were given back with it. */
  forget(page: number): void {
    const key = this.#keys.get(page);
    if (key === undefined) return;
    this.#keys.delete(page);
    this.#pages.delete(key);
  }

  /** No page is found again: what they hold is of other weights. */
  clear(): void {
    this.#pages.clear();
    this.#keys.clear();
  }
}
