/** An image as square tiles, each a grid of patches for a tower of fixed size. */
import type { ModelImage } from '../../batch.ts';
import type { DecodedImage } from '../decode-image.ts';
import { type PatchLayout, patchLength, writePatches } from './patches.ts';
import { type PixelConfig, pixelValues } from './pixel-values.ts';

/** What a tower makes of a tile. */
export interface TileConfig extends PixelConfig {
  /** Side of a patch, pixels: `vision_config.patch_size` of config.json. */
  readonly patchSize: number;
  /** Placeholder tokens of a tile. */
  readonly tokensPerTile: number;
}

/** Width and height of a tile, pixels. */
export interface TileSize {
  readonly width: number;
  readonly height: number;
}

/** A tile: where it begins in an image. */
export interface Tile {
  readonly image: DecodedImage;
  readonly left: number;
  readonly top: number;
}

/** An image of a tile's size. */
export function wholeTile(image: DecodedImage): Tile {
  return { image, left: 0, top: 0 };
}

/** The tiles that an image of whole tiles divides into, row by row. */
export function cutTiles(image: DecodedImage, { width, height }: TileSize): Tile[] {
  const rows = Array.from({ length: image.height / height }, (_, row) => row * height);
  const columns = Array.from({ length: image.width / width }, (_, column) => column * width);
  return rows.flatMap((top) => columns.map((left) => ({ image, left, top })));
}

/**
 * The patches of tiles of one size. Pixels beyond the last whole patch are not used, as in a
 * convolution.
 */
export function tilePatches(
  tiles: readonly Tile[],
  { width, height }: TileSize,
  config: TileConfig,
): Pick<ModelImage, 'patches' | 'gridHeight' | 'gridWidth' | 'grids' | 'tokenCount'> {
  const { patchSize, tokensPerTile } = config;
  const layout: PatchLayout = { patchSize, mergeSize: 1, temporalPatchSize: 1 };
  const gridHeight = Math.floor(height / patchSize);
  const gridWidth = Math.floor(width / patchSize);
  const grids = tiles.length;
  const patches = new Float32Array(grids * gridHeight * gridWidth * patchLength(layout));
  const values = pixelValues(config);
  let to = 0;
  for (const { image, left, top } of tiles) {
    const place = { left, top, gridWidth, gridHeight };
    to = writePatches(patches, to, [image], place, layout, values);
  }
  return { patches, gridHeight, gridWidth, grids, tokenCount: grids * tokensPerTile };
}
