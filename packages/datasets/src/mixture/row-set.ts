/** A set of rows as bits: which row is the k-th of them, and whether one is in it. */

const WORD = 32;
/** Words of a group whose members are counted once. */
const GROUP = 16;

/** Rows of [0, size), at an eighth of a byte each. */
export class RowSet {
  readonly size: number;
  readonly #words: Uint32Array;
  /** Members before each group; made when it is first asked. */
  #before: Uint32Array | undefined;

  constructor(size: number) {
    this.size = size;
    this.#words = new Uint32Array(Math.ceil(size / WORD / GROUP) * GROUP);
  }

  add(row: number): void {
    const at = Math.floor(row / WORD);
    this.#words[at] = (this.#words[at] as number) | (1 << (row % WORD));
    this.#before = undefined;
  }

  delete(row: number): void {
    const at = Math.floor(row / WORD);
    this.#words[at] = (this.#words[at] as number) & ~(1 << (row % WORD));
    this.#before = undefined;
  }

  has(row: number): boolean {
    return (((this.#words[Math.floor(row / WORD)] ?? 0) >>> (row % WORD)) & 1) === 1;
  }

  /** Members. */
  get count(): number {
    return this.#counts().at(-1) ?? 0;
  }

  /** The k-th member, from 0. */
  at(k: number): number {
    const before = this.#counts();
    let [low, high] = [0, before.length - 2];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((before[middle] as number) <= k) low = middle;
      else high = middle - 1;
    }
    let left = k - (before[low] ?? 0);
    for (let i = low * GROUP; i < this.#words.length; i++) {
      let word = this.#words[i] as number;
      const count = bitCount(word);
      if (left >= count) {
        left -= count;
        continue;
      }
      for (; left > 0; left--) word &= word - 1;
      return i * WORD + (31 - Math.clz32(word & -word));
    }
    return -1;
  }

  #counts(): Uint32Array {
    if (this.#before !== undefined) return this.#before;
    const groups = this.#words.length / GROUP;
    const before = new Uint32Array(groups + 1);
    for (let group = 0; group < groups; group++) {
      let count = before[group] as number;
      for (let i = 0; i < GROUP; i++) count += bitCount(this.#words[group * GROUP + i] as number);
      before[group + 1] = count;
    }
    this.#before = before;
    return before;
  }
}

function bitCount(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
