/**
 * InternVL's images, like transformers' `GotOcr2ImageProcessor`: a canvas of tiles with the aspect
 * ratio nearest to the image's, and an overview.
 */
import type { ModelImage } from '../../batch.ts';
import type { DecodedImage } from '../decode-image.ts';
import { resize } from '../resample/resize.ts';
import { DEFAULT_RESAMPLING } from './pixel-values.ts';
import { cutTiles, type TileConfig, type TileSize, tilePatches, wholeTile } from './tiles.ts';

/** How InternVL cuts images. */
export interface GotOcr2Images extends TileConfig {
  readonly tile: TileSize;
  /** Least and most tiles, without the overview. */
  readonly minTiles: number;
  readonly maxTiles: number;
}

/**
 * Columns and rows of tiles whose aspect ratio is nearest to the image's. Of arrangements with the
 * same ratio, more tiles are taken as long as the image has more than half of their area.
 */
export function tileArrangement(
  image: TileSize,
  { tile, minTiles, maxTiles }: GotOcr2Images,
): { readonly columns: number; readonly rows: number } {
  const aspect = image.width / image.height;
  const area = image.width * image.height;
  let best = { columns: 1, rows: 1 };
  let least = Infinity;
  for (const { columns, rows } of arrangements(minTiles, maxTiles)) {
    const difference = Math.abs(aspect - columns / rows);
    const isLarge = area > 0.5 * tile.height * tile.width * columns * rows;
    if (difference < least || (difference === least && isLarge)) best = { columns, rows };
    least = Math.min(least, difference);
  }
  return best;
}

/** All arrangements with so many tiles, those of fewer tiles first. */
function arrangements(least: number, most: number): { columns: number; rows: number }[] {
  const sides = Array.from({ length: most }, (_, i) => i + 1);
  return sides
    .flatMap((columns) => sides.map((rows) => ({ columns, rows })))
    .filter(({ columns, rows }) => columns * rows <= most && columns * rows >= least)
    .sort((a, b) => a.columns * a.rows - b.columns * b.rows);
}

/** Cuts an image into tiles; more than one are followed by the whole image as one tile. */
export function gotOcr2Image(image: DecodedImage, config: GotOcr2Images): ModelImage {
  const { tile, resampling = DEFAULT_RESAMPLING } = config;
  const { columns, rows } = tileArrangement(image, config);
  const width = tile.width * columns;
  const height = tile.height * rows;
  const canvas = resize(image, width, height, resampling);
  const isCut = columns * rows > 1;
  const overviews = isCut ? [resize(image, tile.width, tile.height, resampling)] : [];
  return {
    ...tilePatches([...cutTiles(canvas, tile), ...overviews.map(wholeTile)], tile, config),
    width,
    height,
    ...(isCut && { tiles: { rows, columns } }),
  };
}
