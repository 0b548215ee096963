/** Where every so many records begin: an index that never grows. */

/** Most places that are kept: 64 KiB of them. */
const CAPACITY = 8192;

/** Places of records 0, stride, 2 · stride, …; the stride doubles whenever there are too many. */
export class StrideIndex {
  #stride = 1;
  #count = 0;
  #kept = 0;
  readonly #places: Float64Array = new Float64Array(CAPACITY);

  /** Records so far. */
  get count(): number {
    return this.#count;
  }

  /** Notes the place of the next record. */
  add(place: number): void {
    if (this.#count % this.#stride === 0) {
      if (this.#kept === CAPACITY) this.#thin();
      if (this.#count % this.#stride === 0) this.#places[this.#kept++] = place;
    }
    this.#count++;
  }

  #thin(): void {
    for (let i = 0; 2 * i < CAPACITY; i++) this.#places[i] = this.#places[2 * i] as number;
    this.#kept = CAPACITY / 2;
    this.#stride *= 2;
  }

  /** The last kept record at or before one, and its place. */
  before(record: number): { readonly record: number; readonly place: number } {
    const slot = Math.min(Math.floor(record / this.#stride), this.#kept - 1);
    return { record: slot * this.#stride, place: this.#places[slot] ?? 0 };
  }
}
