/** Where the images of a context stand among its tokens, and the positions of all tokens. */
import { DataError } from '@saccade/core';
import type { ModelImage } from '../batch.ts';

/** Stands in `ids` for a row that takes a visual feature. */
export const VISUAL = -1;

/** The decoder's inputs for a range of tokens, and the position after it. */
export interface Placement {
  /** [T] token ids; VISUAL where an image's feature goes. */
  readonly ids: Int32Array;
  readonly temporal: Int32Array;
  readonly height: Int32Array;
  readonly width: Int32Array;
  readonly next: number;
}

/** The positions of a run of placeholders, counted from the position at which the run starts. */
export interface Spread {
  /** Of the i-th placeholder: steps of time, height and width. */
  at(i: number): readonly [temporal: number, height: number, width: number];
  /** Steps to the position of the token after the run. */
  readonly next: number;
}

/**
 * How an architecture marks the placeholders of images. They are recognized by their markers, since
 * a model may sample a placeholder: that is a token like any other.
 */
export interface ImageMarkup {
  /** Placeholders of an image as runs between markers: the count of each, in order. */
  runs(image: ModelImage): readonly number[];
  /** Whether `count` tokens from `start` are placeholders of the image between their markers. */
  isRun(tokens: Int32Array, start: number, count: number, image: ModelImage): boolean;
  /** Positions of a run's placeholders. Absent: they count up as text does. */
  spread?(image: ModelImage): Spread;
}

/** First placeholder of each run of an image, at or after `from`; undefined if one is incomplete. */
function findImage(
  tokens: Int32Array,
  from: number,
  image: ModelImage,
  markup: ImageMarkup,
): readonly Run[] | undefined {
  const found: Run[] = [];
  let start = from;
  for (const count of markup.runs(image)) {
    while (start + count <= tokens.length && !markup.isRun(tokens, start, count, image)) start++;
    if (start + count > tokens.length) return undefined;
    found.push({ start, count });
    start += count;
  }
  return found;
}

interface Run {
  readonly start: number;
  readonly count: number;
}

/** Number of the images whose placeholders are complete in `tokens`, in order. */
export function countImages(
  tokens: Int32Array,
  images: readonly ModelImage[],
  markup: ImageMarkup,
): number {
  let from = 0;
  for (const [count, image] of images.entries()) {
    const runs = findImage(tokens, from, image, markup);
    if (runs === undefined) return count;
    from = endOf(runs, from);
  }
  return images.length;
}

function endOf(runs: readonly Run[], from: number): number {
  const last = runs.at(-1);
  return last === undefined ? from : last.start + last.count;
}

/**
 * Text tokens take t = h = w = p, p+1, …; the placeholders of an image starting at p take p plus
 * the image's spread, and text after it goes on from there.
 *
 * @param tokens  [T]
 * @param images  the images whose placeholders lie in `tokens`, in order
 * @param start   position of the first token
 * @throws DataError if an image has no placeholders
 */
export function placeTokens(
  tokens: Int32Array,
  images: readonly ModelImage[],
  start: number,
  markup: ImageMarkup,
): Placement {
  const ids = tokens.slice();
  const temporal = new Int32Array(tokens.length);
  const height = new Int32Array(tokens.length);
  const width = new Int32Array(tokens.length);
  let position = start;
  let t = 0;
  const text = (end: number): void => {
    for (; t < end; t++) temporal[t] = height[t] = width[t] = position++;
  };
  for (const [index, image] of images.entries()) {
    const runs = findImage(tokens, t, image, markup);
    if (runs === undefined) {
      throw new DataError(
        `Image ${index} of a context has no ${image.tokenCount} placeholders between its vision ` +
          'markers. Keep images and their placeholders together.',
      );
    }
    const spread = markup.spread?.(image);
    for (const run of runs) {
      text(run.start);
      ids.fill(VISUAL, run.start, run.start + run.count);
      if (spread === undefined) {
        text(run.start + run.count);
        continue;
      }
      for (let i = 0; i < run.count; i++, t++) {
        const [time, row, column] = spread.at(i);
        temporal[t] = position + time;
        height[t] = position + row;
        width[t] = position + column;
      }
      position += spread.next;
    }
  }
  text(tokens.length);
  return { ids, temporal, height, width, next: position };
}

/** The decoder's inputs for tokens without images. */
export function placeText(tokens: Int32Array, start: number): Placement {
  return placeTokens(tokens, [], start, { runs: () => [], isRun: () => false });
}
