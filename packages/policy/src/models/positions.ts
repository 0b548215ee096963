/** M-RoPE positions: text counts up, a picture spreads over height and width at one moment. */
import { DataError } from '@saccade/core';
import type { ModelImage } from '../batch.ts';

/** Positions of a stretch of tokens, and where the next stretch begins. */
export interface Positions {
  readonly temporal: Int32Array;
  readonly height: Int32Array;
  readonly width: Int32Array;
  readonly next: number;
}

/**
 * Text tokens take t = h = w = p, p+1, …; a picture of h×w merged patches starting at p takes
 * (p, p+row, p+column); text after it goes on at p + max(h, w). Qwen2-VL, arXiv:2409.12191.
 *
 * @param tokens  [T]
 * @param images  the pictures whose placeholders lie in `tokens`, in order
 * @param start   position of the first token
 * @throws DataError if placeholders and pictures do not match
 */
export function mropePositions(
  tokens: Int32Array,
  images: readonly ModelImage[],
  start: number,
  imageToken: number,
  mergeSize: number,
): Positions {
  const temporal = new Int32Array(tokens.length);
  const height = new Int32Array(tokens.length);
  const width = new Int32Array(tokens.length);
  let position = start;
  let image = 0;
  for (let t = 0; t < tokens.length; ) {
    if (tokens[t] !== imageToken) {
      temporal[t] = height[t] = width[t] = position++;
      t++;
      continue;
    }
    const picture = images[image++];
    if (picture === undefined) throw mismatch(tokens, images, imageToken);
    const columns = picture.gridWidth / mergeSize;
    for (let i = 0; i < picture.tokenCount; i++, t++) {
      if (tokens[t] !== imageToken) throw mismatch(tokens, images, imageToken);
      temporal[t] = position;
      height[t] = position + Math.floor(i / columns);
      width[t] = position + (i % columns);
    }
    position += Math.max(picture.gridHeight / mergeSize, columns);
  }
  if (image !== images.length) throw mismatch(tokens, images, imageToken);
  return { temporal, height, width, next: position };
}

function mismatch(tokens: Int32Array, images: readonly ModelImage[], imageToken: number) {
  const placeholders = tokens.reduce((count, token) => count + (token === imageToken ? 1 : 0), 0);
  const features = images.reduce((count, image) => count + image.tokenCount, 0);
  return new DataError(
    `The context has ${placeholders} picture placeholders, but its ${images.length} pictures have ` +
      `${features} visual tokens. Keep pictures and their placeholders together.`,
  );
}
