/** Marks of images among tokens: the families of vision markers. */
import type { ModelImage } from '../batch.ts';
import type { SpecialTokens } from './model-size.ts';
import type { ImageMarkup, Spread } from './positions.ts';

/** Placeholders right between a start and an end marker. */
export function betweenMarkers(
  tokens: SpecialTokens,
): Pick<ImageMarkup, 'placeholder' | 'opens' | 'closes'> {
  const { imageToken, videoToken, visionStartToken, visionEndToken } = tokens;
  return {
    placeholder: (image) => (image.video === undefined ? imageToken : videoToken),
    opens: (all, start) => all[start - 1] === visionStartToken,
    closes: (all, end) => all[end] === visionEndToken,
  };
}

/** Grids of patches: the tiles of an image, or the moments of a video. */
export function gridCount(image: ModelImage): number {
  return image.grids ?? 1;
}

/**
 * The spread of M-RoPE over moments, rows and columns of merged units. Text goes on after the larger
 * side, as in transformers, also where a video lasts longer than that.
 *
 * @param frameStep  steps of time from a grid to the next
 */
export function gridSpread(
  { gridHeight, gridWidth }: ModelImage,
  mergeSize: number,
  frameStep: number,
): Spread {
  const rows = gridHeight / mergeSize;
  const columns = gridWidth / mergeSize;
  return {
    at(i) {
      const frame = Math.floor(i / (rows * columns));
      const row = Math.floor(i / columns) % rows;
      // The product of 32-bit numbers, as transformers rounds it.
      return [Math.trunc(Math.fround(frame * Math.fround(frameStep))), row, i % columns];
    },
    next: Math.max(rows, columns),
  };
}
