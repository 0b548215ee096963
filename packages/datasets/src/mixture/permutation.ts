/** Orders of rows that need no memory: a permutation that is computed for one place at a time. */
import { philox4x32, randomAt } from '@saccade/core';

const ROUNDS = 6;

/**
 * A permutation of [0, size): a balanced Feistel network over the next even number of bits, walked
 * until it stays inside (Black & Rogaway, 2002: "Ciphers with arbitrary finite domains"). Size up to
 * 2⁵⁰; the walk takes less than four steps on average.
 */
export class Permutation {
  readonly size: number;
  readonly #half: number;
  readonly #key: readonly [number, number];

  /** @param path  address of the order: seed, then names and numbers */
  constructor(size: number, seed: number, ...path: readonly (string | number)[]) {
    this.size = size;
    let bits = 1;
    while (4 ** bits < size) bits++;
    this.#half = 2 ** bits;
    const random = randomAt(seed, 'permutation', ...path);
    this.#key = [random.word(), random.word()];
  }

  /** The number at a place. */
  at(place: number): number {
    let value = place;
    do value = this.#encrypt(value);
    while (value >= this.size);
    return value;
  }

  #encrypt(value: number): number {
    let left = Math.floor(value / this.#half);
    let right = value % this.#half;
    for (let round = 0; round < ROUNDS; round++) {
      const [word] = philox4x32([right >>> 0, round, 0, 0], [...this.#key]);
      [left, right] = [right, (left ^ (word % this.#half)) % this.#half];
    }
    return left * this.#half + right;
  }
}

/** How far rows move: all of them among each other, or in blocks that are read together. */
export interface RowOrderOptions {
  readonly rowCount: number;
  /** Rows that are read together. */
  readonly blockRows: number;
  /** Blocks whose rows are mixed with each other. */
  readonly windowBlocks: number;
}

/**
 * A shuffle of rows that can be read in order: blocks are permuted, and rows within each window of
 * some blocks. The rows that make no whole window come last.
 */
export class RowOrder {
  readonly #options: RowOrderOptions;
  readonly #seed: number;
  readonly #path: readonly (string | number)[];
  readonly #wholeBlocks: number;
  readonly #blocks: Permutation;
  #window: { readonly number: number; readonly permutation: Permutation } | undefined;

  constructor(options: RowOrderOptions, seed: number, ...path: readonly (string | number)[]) {
    this.#options = options;
    this.#seed = seed;
    this.#path = path;
    this.#wholeBlocks = Math.floor(options.rowCount / options.blockRows);
    this.#blocks = new Permutation(this.#wholeBlocks, seed, 'blocks', ...path);
  }

  /** The row at a place of the order. */
  at(place: number): number {
    const { rowCount, blockRows, windowBlocks } = this.#options;
    const windowRows = blockRows * windowBlocks;
    const number = Math.floor(place / windowRows);
    const first = number * windowRows;
    const inWindow = Math.min(windowRows, rowCount - first);
    if (this.#window?.number !== number) {
      const path = ['window', ...this.#path, number];
      this.#window = { number, permutation: new Permutation(inWindow, this.#seed, ...path) };
    }
    const mixed = first + this.#window.permutation.at(place - first);
    const block = Math.floor(mixed / blockRows);
    // The rows after the last whole block stay where they are.
    if (block >= this.#wholeBlocks) return mixed;
    return this.#blocks.at(block) * blockRows + (mixed % blockRows);
  }
}
