/** Where pictures stand among tokens, and M-RoPE positions: text counts up, a picture spreads. */
import { DataError } from '@saccade/core';
import type { ModelImage } from '../batch.ts';
import type { ModelConfig } from './config.ts';

/** Positions of a stretch of tokens, and where the next stretch begins. */
export interface TokenLayout {
  /** [T] each. */
  readonly temporal: Int32Array;
  readonly height: Int32Array;
  readonly width: Int32Array;
  /** [T] index of the visual feature that stands there, counted over all pictures; −1 for text. */
  readonly feature: Int32Array;
  /** Position of the token after these. */
  readonly next: number;
}

export interface LayoutOptions {
  /** Position of the first token. */
  readonly start: number;
  /**
   * True to refuse a delimited run of placeholders without its picture. A model may well write such
   * a run itself, so tokens that were sampled are read with `false`: then it is text.
   */
  readonly isStrict: boolean;
}

/**
 * Text tokens take t = h = w = p, p+1, …; a picture of h×w merged patches starting at p takes
 * (p, p+row, p+column); text after it goes on at p + max(h, w). Qwen2-VL, arXiv:2409.12191, §2.1.
 *
 * Pictures are matched in order with runs of exactly their number of placeholders after a
 * vision-start token. A placeholder elsewhere is an ordinary token.
 *
 * @param tokens  [T]
 * @param images  the pictures whose placeholders lie in `tokens`, in order
 * @throws DataError if a picture has no placeholders (or, if strict, the other way round)
 */
export function layOutTokens(
  tokens: Int32Array,
  images: readonly ModelImage[],
  config: ModelConfig,
  options: LayoutOptions,
): TokenLayout {
  const { imageToken, vision } = config;
  const temporal = new Int32Array(tokens.length);
  const height = new Int32Array(tokens.length);
  const width = new Int32Array(tokens.length);
  const feature = new Int32Array(tokens.length).fill(-1);
  let position = options.start;
  let image = 0;
  let features = 0;
  for (let t = 0; t < tokens.length; ) {
    const run = tokens[t] === imageToken ? runLength(tokens, t, imageToken) : 0;
    const isOpened = run > 0 && (t === 0 || tokens[t - 1] === config.visionStartToken);
    const picture = isOpened ? images[image] : undefined;
    if (picture !== undefined && picture.tokenCount === run) {
      const columns = picture.gridWidth / vision.mergeSize;
      for (let i = 0; i < run; i++, t++) {
        temporal[t] = position;
        height[t] = position + Math.floor(i / columns);
        width[t] = position + (i % columns);
        feature[t] = features++;
      }
      position += Math.max(picture.gridHeight / vision.mergeSize, columns);
      image++;
      continue;
    }
    if (options.isStrict && isOpened && tokens[t + run] === config.visionEndToken) {
      throw mismatch(tokens, images, imageToken);
    }
    for (const end = t + Math.max(run, 1); t < end; t++) {
      temporal[t] = height[t] = width[t] = position++;
    }
  }
  if (image !== images.length) throw mismatch(tokens, images, imageToken);
  return { temporal, height, width, feature, next: position };
}

function runLength(tokens: Int32Array, start: number, imageToken: number): number {
  let end = start;
  while (tokens[end] === imageToken) end++;
  return end - start;
}

function mismatch(tokens: Int32Array, images: readonly ModelImage[], imageToken: number) {
  const placeholders = tokens.reduce((count, token) => count + (token === imageToken ? 1 : 0), 0);
  const features = images.reduce((count, image) => count + image.tokenCount, 0);
  return new DataError(
    `The tokens have ${placeholders} picture placeholders, but their ${images.length} pictures ` +
      `have ${features} visual tokens, or they stand in another order. Keep pictures and their ` +
      'placeholders together, each run of placeholders between vision-start and vision-end.',
  );
}
