/** M-RoPE positions: text counts up, an image spreads over height and width at one moment. */
import { DataError } from '@saccade/core';
import type { ModelImage } from '../batch.ts';
import type { SpecialTokens } from './model-size.ts';

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

type Markup = Pick<SpecialTokens, 'imageToken' | 'visionStartToken' | 'visionEndToken'>;

/**
 * First placeholder of the next image at or after `from`, or −1. Placeholders stand between the
 * vision markers, as many as the image has features; an image token anywhere else is a token like
 * any other, since a model may sample one.
 */
function findImage(tokens: Int32Array, from: number, image: ModelImage, markup: Markup): number {
  const { imageToken, visionStartToken, visionEndToken } = markup;
  for (let start = Math.max(1, from); start + image.tokenCount < tokens.length; start++) {
    if (tokens[start - 1] !== visionStartToken) continue;
    if (tokens[start + image.tokenCount] !== visionEndToken) continue;
    if (tokens.subarray(start, start + image.tokenCount).every((t) => t === imageToken))
      return start;
  }
  return -1;
}

/** Number of the images whose placeholders are complete in `tokens`, in order. */
export function countImages(
  tokens: Int32Array,
  images: readonly ModelImage[],
  markup: Markup,
): number {
  let from = 0;
  for (const [count, image] of images.entries()) {
    const start = findImage(tokens, from, image, markup);
    if (start < 0) return count;
    from = start + image.tokenCount;
  }
  return images.length;
}

/**
 * Text tokens take t = h = w = p, p+1, …; an image of h×w merged patches starting at p takes
 * (p, p+row, p+column); text after it continues at p + max(h, w). Qwen2-VL, arXiv:2409.12191.
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
  markup: Markup,
  mergeSize: number,
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
    const first = findImage(tokens, t, image, markup);
    if (first < 0) {
      throw new DataError(
        `Image ${index} of a context has no ${image.tokenCount} placeholders between its vision ` +
          'markers. Keep images and their placeholders together.',
      );
    }
    text(first);
    const columns = image.gridWidth / mergeSize;
    for (let i = 0; i < image.tokenCount; i++, t++) {
      ids[t] = VISUAL;
      temporal[t] = position;
      height[t] = position + Math.floor(i / columns);
      width[t] = position + (i % columns);
    }
    position += Math.max(image.gridHeight / mergeSize, columns);
  }
  text(tokens.length);
  return { ids, temporal, height, width, next: position };
}
