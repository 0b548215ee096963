/** The merges of a byte-level BPE, learned from a corpus with digits kept apart. */
import { byteCharacters } from './byte-alphabet.ts';

/** Ends a word in the run of symbols; never part of a pair. */
const END = -1;

/**
 * Merges in the order learned, each a pair of symbols written in stand-in characters. Always the
 * most frequent pair; among equals the one whose left, then right symbol is older (bytes by value).
 * Fewer than `count` if no pair is left that occurs twice.
 */
export function learnMerges(corpus: readonly string[], count: number): [string, string][] {
  const names = [...byteCharacters];
  const { symbols, weights } = wordsOf(corpus);
  let length = symbols.length;
  const pairs = new PairCounts();
  for (let i = 0; i + 1 < length; i++) pairs.add(symbols, i, weights[i] as number);
  const merges: [string, string][] = [];
  while (merges.length < count) {
    const best = pairs.mostFrequent();
    if (best === undefined) break;
    const [left, right] = best;
    const made = names.length;
    merges.push([names[left] as string, names[right] as string]);
    names.push(`${names[left]}${names[right]}`);
    // Rewrites the run in place; `to` never passes `from`.
    let to = 0;
    for (let from = 0; from < length; to++) {
      const isPair = symbols[from] === left && symbols[from + 1] === right;
      const weight = weights[from] as number;
      if (isPair) {
        // Its neighbors leave their old pairs (the left one is already rewritten) for new ones.
        if (to > 0) pairs.addPair(symbols[to - 1] as number, left, -weight);
        pairs.addPair(left, right, -weight);
        pairs.addPair(right, symbols[from + 2] as number, -weight);
      }
      symbols[to] = isPair ? made : (symbols[from] as number);
      weights[to] = weight;
      from += isPair ? 2 : 1;
      if (isPair) {
        if (to > 0) pairs.addPair(symbols[to - 1] as number, made, weight);
        pairs.addPair(made, symbols[from] as number, weight);
      }
    }
    length = to;
  }
  return merges;
}

/** All distinct words one after another, with how often each occurs at every of its symbols. */
function wordsOf(corpus: readonly string[]): { symbols: Int32Array; weights: Int32Array } {
  const counts = new Map<string, number>();
  for (const text of corpus) {
    for (const word of text.split(/([0-9])/)) {
      if (word.length > 1) counts.set(word, (counts.get(word) ?? 0) + 1);
    }
  }
  const encoder = new TextEncoder();
  const words = [...counts].map(([word, times]) => ({ bytes: encoder.encode(word), times }));
  const length = words.reduce((sum, { bytes }) => sum + bytes.length + 1, 0);
  const symbols = new Int32Array(length).fill(END);
  const weights = new Int32Array(length);
  let at = 0;
  for (const { bytes, times } of words) {
    symbols.set(bytes, at);
    weights.fill(times, at, at + bytes.length + 1);
    at += bytes.length + 1;
  }
  return { symbols, weights };
}

class PairCounts {
  /** By left · 2²⁶ + right. */
  readonly #counts = new Map<number, number>();

  add(symbols: Int32Array, index: number, weight: number): void {
    this.addPair(symbols[index] as number, symbols[index + 1] as number, weight);
  }

  addPair(left: number, right: number | undefined, weight: number): void {
    if (left === END || right === END || right === undefined) return;
    const key = left * 2 ** 26 + right;
    const count = (this.#counts.get(key) ?? 0) + weight;
    if (count === 0) this.#counts.delete(key);
    else this.#counts.set(key, count);
  }

  mostFrequent(): [number, number] | undefined {
    let best = -1;
    let bestCount = 1;
    for (const [key, count] of this.#counts) {
      if (count > bestCount || (count === bestCount && best >= 0 && key < best)) {
        best = key;
        bestCount = count;
      }
    }
    if (best < 0) return undefined;
    return [Math.floor(best / 2 ** 26), best % 2 ** 26];
  }
}
