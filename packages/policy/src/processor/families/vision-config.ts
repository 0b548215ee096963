/** What the processors of tiles need of a model's `config.json`. */
import { DataError } from '@saccade/core';
import type { JsonFields } from '../json-fields.ts';

/**
 * Side of a patch, pixels: `vision_config.patch_size`, a number or one for each axis.
 *
 * @param fallback  where config.json does not say it
 * @throws DataError if it is no number, or there is none and no fallback
 */
export function visionPatchSize(config: JsonFields, fallback?: number): number {
  const vision = config.object('vision_config');
  const { patch_size: size } = vision.json;
  if (!Array.isArray(size)) return vision.count('patch_size', 1, 1024, fallback);
  const [side, ...others] = size;
  if (Number.isInteger(side) && side > 0 && others.every((other) => other === side)) return side;
  throw new DataError(
    `config.json: vision_config.patch_size must be one number for both axes, is ` +
      `${JSON.stringify(size)}. Use a checkpoint with square patches.`,
  );
}

/** Side of a tile of a model of one's own, pixels: `vision_config.image_size`. */
export function tileSideOf(config: JsonFields): number {
  const { image_size: size } = config.object('vision_config').json;
  return Array.isArray(size) ? Number(size[0]) : Number(size);
}
