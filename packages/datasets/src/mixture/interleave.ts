/**
 * Which source a task of a mixture is from, and which of its rows: a function of the index alone, in
 * memory that does not grow with it.
 */
import { ConfigError } from '@saccade/core';

/** Slots of the pattern that repeats: shares are met to within half of 1/4096. */
const PERIOD = 4096;

/** A source of a mixture. */
export interface Share {
  /** Share of the tasks; relative. */
  readonly weight: number;
  /** Rows that it gives in all: its rows times its epochs; Infinity: as many as are asked for. */
  readonly length: number;
}

/** A place in a mixture. */
export interface Place {
  readonly source: number;
  /** How many of this source came before. */
  readonly occurrence: number;
}

/** A stretch of a mixture in which the same sources take part. */
interface Phase {
  readonly start: number;
  readonly end: number;
  readonly pattern: Pattern;
  /** Of each source, how many came before this phase. */
  readonly before: readonly number[];
}

/**
 * Shares of sources by a temperature: pᵢ ∝ nᵢ^(1/T), as multilingual models sample languages
 * (Devlin et al. 2019; Xue et al. 2021, mT5). T = 1 keeps the proportions of the sizes; a large T
 * makes all equal.
 */
export function temperatureWeights(sizes: readonly number[], temperature: number): number[] {
  const largest = Math.max(...sizes);
  return sizes.map((size) => (size === 0 ? 0 : (size / largest) ** (1 / temperature)));
}

/** An interleaving of sources; a source that has given all its rows leaves its share to the others. */
export class Interleave {
  readonly #phases: readonly Phase[];
  /** Tasks in all; Infinity where a source never ends. */
  readonly size: number;

  /** @throws ConfigError if no source has a weight and rows */
  constructor(shares: readonly Share[]) {
    this.#phases = phasesOf(shares);
    this.size = this.#phases.at(-1)?.end ?? 0;
  }

  /** The place of an index below `size`. */
  at(index: number): Place {
    let [low, high] = [0, this.#phases.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#phases[middle] as Phase).start <= index) low = middle;
      else high = middle - 1;
    }
    const { start, pattern, before } = this.#phases[low] as Phase;
    const { source, occurrence } = pattern.at(index - start);
    return { source, occurrence: occurrence + (before[source] as number) };
  }
}

/** A pattern of sources that repeats, each as evenly as its share allows. */
class Pattern {
  /** [P] the source of each slot, and how many of the same came before it in the pattern. */
  readonly #sources = new Uint16Array(PERIOD);
  readonly #ranks = new Uint16Array(PERIOD);
  readonly counts: readonly number[];

  constructor(weights: readonly number[]) {
    this.counts = slotCounts(weights);
    const given = this.counts.map(() => 0);
    for (let slot = 0; slot < PERIOD; slot++) {
      // The source that is furthest behind its share.
      let source = 0;
      let most = Number.NEGATIVE_INFINITY;
      this.counts.forEach((count, i) => {
        const deficit = (count * (slot + 1)) / PERIOD - (given[i] as number);
        if (count > (given[i] as number) && deficit > most) [source, most] = [i, deficit];
      });
      this.#sources[slot] = source;
      this.#ranks[slot] = given[source] as number;
      given[source] = (given[source] as number) + 1;
    }
  }

  at(index: number): Place {
    const slot = index % PERIOD;
    const source = this.#sources[slot] as number;
    const rounds = Math.floor(index / PERIOD);
    const occurrence = rounds * (this.counts[source] as number) + (this.#ranks[slot] as number);
    return { source, occurrence };
  }

  /** The index after the last of so many rows of a source. */
  endOf(source: number, length: number): number {
    const count = this.counts[source] as number;
    if (count === 0 || length === Number.POSITIVE_INFINITY) return Number.POSITIVE_INFINITY;
    if (length === 0) return 0;
    const rank = (length - 1) % count;
    const slot = this.#sources.findIndex((one, i) => one === source && this.#ranks[i] === rank);
    return Math.floor((length - 1) / count) * PERIOD + slot + 1;
  }

  /** How many of each source come before an index. */
  countsBefore(index: number): readonly number[] {
    const counts = this.counts.map((count) => count * Math.floor(index / PERIOD));
    for (let slot = 0; slot < index % PERIOD; slot++) {
      const source = this.#sources[slot] as number;
      counts[source] = (counts[source] as number) + 1;
    }
    return counts;
  }
}

/** Slots by largest remainder; a source with a weight has at least one. */
function slotCounts(weights: readonly number[]): readonly number[] {
  const sum = weights.reduce((a, b) => a + b, 0);
  const exact = weights.map((weight) => (weight / sum) * PERIOD);
  const counts = exact.map((slots, i) => (weights[i] === 0 ? 0 : Math.max(1, Math.floor(slots))));
  const order = exact
    .map((slots, i) => ({ i, rest: slots - Math.floor(slots) }))
    .filter(({ i }) => weights[i] !== 0)
    .sort((a, b) => b.rest - a.rest || a.i - b.i);
  let left = PERIOD - counts.reduce((a, b) => a + b, 0);
  for (let k = 0; left > 0; k++, left--) {
    const { i } = order[k % order.length] as { readonly i: number };
    counts[i] = (counts[i] as number) + 1;
  }
  // Sources below one slot took more than their share: the largest give it back.
  for (; left < 0; left++) {
    const largest = counts.indexOf(Math.max(...counts));
    counts[largest] = (counts[largest] as number) - 1;
  }
  return counts;
}

function phasesOf(shares: readonly Share[]): readonly Phase[] {
  const given = shares.map(() => 0);
  const phases: Phase[] = [];
  let start = 0;
  for (;;) {
    const weights = shares.map(({ weight, length }, i) => (length > (given[i] as number) ? weight : 0));
    if (weights.every((weight) => weight === 0)) break;
    const pattern = new Pattern(weights);
    const ends = shares.map(({ length }, i) => pattern.endOf(i, length - (given[i] as number)));
    const lasts = Math.min(...ends.filter((_, i) => weights[i] !== 0));
    phases.push({ start, end: start + lasts, pattern, before: [...given] });
    if (lasts === Number.POSITIVE_INFINITY) break;
    pattern.countsBefore(lasts).forEach((count, i) => {
      given[i] = (given[i] as number) + count;
    });
    start += lasts;
  }
  if (phases.length > 0) return phases;
  throw new ConfigError(
    'taskSet.sources',
    'taskSet.sources: no source has rows and a weight above 0. Give at least one that has.',
  );
}
