/** How the policy sees images: cells of a crop as they are, the whole table half as wide. */
import { type ImageProcessorConfig, qwenImageProcessor } from '@saccade/policy';
import type { CardsOptions } from '../task/cards.ts';
import { CELL } from '../task/draw-table.ts';

/**
 * The sizes to which images of a task are resized. An overview has half the sides of its table,
 * where the ink averages away; a cell is one token.
 */
export function imageConfig({ cells }: Pick<CardsOptions, 'cells'>): ImageProcessorConfig {
  return {
    ...qwenImageProcessor,
    // A still image is one moment: patches are half as long as the published model's.
    temporalPatchSize: 1,
    minPixels: CELL ** 2,
    maxPixels: overviewSide({ cells }) ** 2,
  };
}

/** Sides of the overview of a table, pixels. */
export function overviewSide({ cells }: Pick<CardsOptions, 'cells'>): number {
  return (cells * CELL) / 2;
}
