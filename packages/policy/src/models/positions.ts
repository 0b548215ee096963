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
 * a model may sample a placeholder: that is a token like any other. Images may also follow one
 * another with nothing between them; then the first has a marker before it, the last one after it.
 */
export interface ImageMarkup {
  /** Placeholders of an image as runs: the count of each, in order. */
  runs(image: ModelImage): readonly number[];
  /** The token in the place of an image's features. */
  placeholder(image: ModelImage): number;
  /** Whether placeholders that start at an index have a marker before them. */
  opens(tokens: Int32Array, start: number): boolean;
  /** Whether placeholders that end before an index have a marker after them. */
  closes(tokens: Int32Array, end: number): boolean;
  /** Positions of a run's placeholders. Absent: they count up as text does. */
  spread?(image: ModelImage): Spread;
}

/** Some placeholders of an image, one after another. */
interface Run {
  readonly start: number;
  readonly count: number;
}

/** Finds the runs of the images that are complete in `tokens`, image by image. */
function findImages(
  tokens: Int32Array,
  images: readonly ModelImage[],
  markup: ImageMarkup,
): readonly (readonly Run[])[] {
  const wanted = images.map((image) => {
    const placeholder = markup.placeholder(image);
    return markup.runs(image).map((count) => ({ count, placeholder }));
  });
  const runs = wanted.flat();
  const fits = (index: number, start: number): boolean => {
    const run = runs[index];
    if (run === undefined) return false;
    const end = start + run.count;
    if (end > tokens.length || !isFilled(tokens, start, end, run.placeholder)) return false;
    return markup.closes(tokens, end) || fits(index + 1, end);
  };
  const starts: number[] = [];
  let from = 0;
  for (const [index, { count }] of runs.entries()) {
    let start = from;
    const follows = index > 0 && fits(index, from);
    while (!follows && start < tokens.length) {
      if (markup.opens(tokens, start) && fits(index, start)) break;
      start++;
    }
    if (start >= tokens.length) break;
    starts.push(start);
    from = start + count;
  }
  const found: Run[][] = [];
  let next = 0;
  for (const own of wanted) {
    if (next + own.length > starts.length) break;
    found.push(own.map(({ count }) => ({ start: starts[next++] as number, count })));
  }
  return found;
}

/** Whether all tokens in [start, end) are `token`. */
function isFilled(tokens: Int32Array, start: number, end: number, token: number): boolean {
  for (let i = start; i < end; i++) if (tokens[i] !== token) return false;
  return true;
}

/** Number of the images whose placeholders are complete in `tokens`, in order. */
export function countImages(
  tokens: Int32Array,
  images: readonly ModelImage[],
  markup: ImageMarkup,
): number {
  return findImages(tokens, images, markup).length;
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
  const found = findImages(tokens, images, markup);
  for (const [index, image] of images.entries()) {
    const runs = found[index];
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

const NO_IMAGES: ImageMarkup = {
  runs: () => [],
  placeholder: () => VISUAL,
  opens: () => false,
  closes: () => false,
};

/** The decoder's inputs for tokens without images. */
export function placeText(tokens: Int32Array, start: number): Placement {
  return placeTokens(tokens, [], start, NO_IMAGES);
}
