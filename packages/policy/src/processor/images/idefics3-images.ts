/**
 * Images of Idefics3 and SmolVLM, like transformers' `Idefics3ImageProcessor`: resized by the
 * longest side, enlarged to whole tiles, and followed by an overview.
 */
import type { ModelImage } from '../../batch.ts';
import type { DecodedImage } from '../decode-image.ts';
import { resize } from '../resample/resize.ts';
import { DEFAULT_RESAMPLING } from './pixel-values.ts';
import { cutTiles, type TileConfig, type TileSize, tilePatches, wholeTile } from './tiles.ts';

/** How Idefics3 cuts images. */
export interface Idefics3Images extends TileConfig {
  /** Longest side before cutting, pixels. */
  readonly longestSide: number;
  /** Side of a tile, pixels. */
  readonly tileSide: number;
  /** Whether images are cut; if not, each becomes one tile. */
  readonly isSplit: boolean;
}

/** No image becomes larger than this, whatever the configuration says. */
const MAX_SIDE = 4096;

/** The size with a longest side of `longest`; the other is even. */
export function sizeByLongestSide({ width, height }: TileSize, longest: number): TileSize {
  const aspect = width / height;
  const even = (side: number): number => Math.max(1, side + (side % 2));
  return width >= height
    ? { width: longest, height: even(Math.trunc(longest / aspect)) }
    : { width: even(Math.trunc(longest * aspect)), height: longest };
}

function atMost({ width, height }: TileSize, most: number): TileSize {
  const aspect = width / height;
  if (width >= height && width > most) {
    return { width: most, height: Math.max(1, Math.trunc(most / aspect)) };
  }
  if (height > width && height > most) {
    return { width: Math.max(1, Math.trunc(most * aspect)), height: most };
  }
  return { width, height };
}

/** The size in whole tiles that is not smaller. */
function wholeTiles({ width, height }: TileSize, side: number): TileSize {
  const aspect = width / height;
  const whole = (length: number): number => Math.ceil(length / side) * side;
  if (width >= height) {
    const wide = whole(width);
    return { width: wide, height: whole(Math.trunc(wide / aspect)) };
  }
  const high = whole(height);
  return { width: whole(Math.trunc(high * aspect)), height: high };
}

/** Cuts an image into tiles, followed by the whole image as one tile. */
export function idefics3Image(image: DecodedImage, config: Idefics3Images): ModelImage {
  const { tileSide, longestSide, resampling = DEFAULT_RESAMPLING } = config;
  const tile = { width: tileSide, height: tileSide };
  const size = atMost(sizeByLongestSide(image, longestSide), MAX_SIDE);
  const resized = resize(image, size.width, size.height, resampling);
  const { width, height } = config.isSplit ? wholeTiles(size, tileSide) : tile;
  const canvas = resize(resized, width, height, resampling);
  const rows = height / tileSide;
  const columns = width / tileSide;
  const isCut = rows * columns > 1;
  const overviews = isCut ? [resize(canvas, tileSide, tileSide, resampling)] : [];
  return {
    ...tilePatches([...cutTiles(canvas, tile), ...overviews.map(wholeTile)], tile, config),
    width,
    height,
    ...(isCut && { tiles: { rows, columns } }),
  };
}
