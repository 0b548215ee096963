/**
 * Philox4x32-10: a counter-based generator, so a random number has an address instead of a history.
 *
 * Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3". The same address gives the
 * same bits in TypeScript and in every kernel (`kernels/include/philox.h`).
 */

const M0 = 0xd2511f53;
const M1 = 0xcd9e8d57;
const W0 = 0x9e3779b9;
const W1 = 0xbb67ae85;

/** High 32 bits of the 64-bit product of two unsigned 32-bit integers. */
function mulHigh(a: number, b: number): number {
  const aLow = a & 0xffff;
  const aHigh = a >>> 16;
  const bLow = b & 0xffff;
  const bHigh = b >>> 16;
  // Whole words only: doubles would take twice as long.
  const cross1 = Math.imul(aHigh, bLow);
  const cross2 = Math.imul(aLow, bHigh);
  const low = Math.imul(aLow, bLow) >>> 16;
  const carry = (low + (cross1 & 0xffff) + (cross2 & 0xffff)) >>> 16;
  return (Math.imul(aHigh, bHigh) + (cross1 >>> 16) + (cross2 >>> 16) + carry) >>> 0;
}

/** Four unsigned 32-bit words: a Philox counter, or one block of its output. */
export type Words4 = readonly [number, number, number, number];

/** Two unsigned 32-bit words: a Philox key. */
export type Words2 = readonly [number, number];

/** Four 32-bit words at `counter` of the stream `key`. */
export function philox4x32(counter: Words4, key: Words2): [number, number, number, number] {
  let [c0, c1, c2, c3] = counter;
  let [k0, k1] = key;
  for (let round = 0; round < 10; round++) {
    const high0 = mulHigh(M0, c0);
    const low0 = Math.imul(M0, c0) >>> 0;
    const high1 = mulHigh(M1, c2);
    const low1 = Math.imul(M1, c2) >>> 0;
    const next0 = (high1 ^ c1 ^ k0) >>> 0;
    const next2 = (high0 ^ c3 ^ k1) >>> 0;
    c0 = next0;
    c1 = low1;
    c2 = next2;
    c3 = low0;
    k0 = (k0 + W0) >>> 0;
    k1 = (k1 + W1) >>> 0;
  }
  return [c0 >>> 0, c1 >>> 0, c2 >>> 0, c3 >>> 0];
}

/**
 * Maps a 32-bit word to (⌊bits / 2⁸⌋ + ½) / 2²⁴, which lies in the open interval (0, 1), so its
 * logarithm is always finite.
 */
export function unitOpen(bits: number): number {
  return ((bits >>> 8) + 0.5) / 0x1000000;
}

/**
 * The 32-bit FNV-1a hash of a string's UTF-16 code units, low byte first: turns a name into a word.
 */
export function hashString(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ (text.charCodeAt(i) & 0xff), 0x01000193);
    hash = Math.imul(hash ^ (text.charCodeAt(i) >>> 8), 0x01000193);
  }
  return hash >>> 0;
}

/** Draws numbers one after another from the stream at one address; see `randomAt`. */
export interface Random {
  /** Uniform 32-bit word. */
  word(): number;
  /** Uniform in (0, 1). */
  uniform(): number;
  /** Uniform integer in [0, bound). */
  integer(bound: number): number;
  /** Standard normal. */
  normal(): number;
  /** One element of a non-empty list. */
  pick<T>(items: readonly T[]): T;
  /** A shuffled copy. */
  shuffle<T>(items: readonly T[]): T[];
}

/**
 * The stream of random numbers at an address: seed, then any path of names and indices.
 * Streams at different addresses are independent; no state is shared.
 *
 *   randomAt(1, 'sample', step, row)
 */
export function randomAt(seed: number, ...path: readonly (string | number)[]): Random {
  const key: [number, number] = [seed >>> 0, 0x5acc5acc];
  let address: Words4 = [0, 0, 0, 0];
  for (const part of path) {
    const word = typeof part === 'string' ? hashString(part) : part >>> 0;
    const high = typeof part === 'string' ? 1 : Math.floor(part / 0x100000000) >>> 0;
    address = philox4x32([address[0] ^ word, address[1] ^ high, address[2], address[3]], key);
  }
  const stream: Words2 = [address[0], address[1]];
  let block: Words4 = [0, 0, 0, 0];
  let drawn = 4;
  let counter = 0;
  const word = (): number => {
    if (drawn === 4) {
      const high = Math.floor(counter / 0x100000000) >>> 0;
      block = philox4x32([counter >>> 0, high, address[2], address[3]], stream);
      counter++;
      drawn = 0;
    }
    return block[drawn++] as number;
  };
  const uniform = (): number => unitOpen(word());
  const integer = (bound: number): number => Math.floor(((word() >>> 0) / 0x100000000) * bound);
  return {
    word,
    uniform,
    integer,
    normal: () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()),
    pick: <T>(items: readonly T[]): T => items[integer(items.length)] as T,
    shuffle<T>(items: readonly T[]): T[] {
      const out = [...items];
      for (let i = out.length - 1; i > 0; i--) {
        const j = integer(i + 1);
        const moved = out[i] as T;
        out[i] = out[j] as T;
        out[j] = moved;
      }
      return out;
    },
  };
}
