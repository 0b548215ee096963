/** Cuts resized frames into the patches of a vision tower. */
import type { DecodedImage } from '../decode-image.ts';

/** The patches that a tower takes. */
export interface PatchLayout {
  /** Side of a patch, pixels. */
  readonly patchSize: number;
  /** Patches per side of a unit, whose patches follow one another. */
  readonly mergeSize: number;
  /** Frames per patch. */
  readonly temporalPatchSize: number;
}

/** A grid of patches in an image, by its upper left corner. */
export interface GridPlace {
  readonly left: number;
  readonly top: number;
  readonly gridWidth: number;
  readonly gridHeight: number;
}

/** Values of one patch: channels × frames × rows × columns. */
export function patchLength({ patchSize, temporalPatchSize }: PatchLayout): number {
  return 3 * temporalPatchSize * patchSize * patchSize;
}

/**
 * Writes a grid of patches: units row by row, in a unit patches row by row, in a patch channel,
 * frame, row, column.
 *
 * @param patches  where they are written, from `to` on
 * @param frames   one for each of `temporalPatchSize`; the same one again is copied
 * @param values   [3][256] what each byte becomes, by channel
 * @returns        the place after the last value
 */
export function writePatches(
  patches: Float32Array,
  to: number,
  frames: readonly DecodedImage[],
  place: GridPlace,
  layout: PatchLayout,
  values: readonly Float32Array[],
): number {
  const { patchSize, mergeSize } = layout;
  const area = patchSize * patchSize;
  let next = to;
  for (let unitRow = 0; unitRow < place.gridHeight; unitRow += mergeSize) {
    for (let unitColumn = 0; unitColumn < place.gridWidth; unitColumn += mergeSize) {
      for (let patch = 0; patch < mergeSize * mergeSize; patch++) {
        const top = place.top + (unitRow + Math.floor(patch / mergeSize)) * patchSize;
        const left = place.left + (unitColumn + (patch % mergeSize)) * patchSize;
        for (let channel = 0; channel < 3; channel++) {
          const table = values[channel] as Float32Array;
          for (let t = 0; t < frames.length; t++) {
            if (t > 0 && frames[t] === frames[t - 1]) {
              patches.copyWithin(next, next - area, next);
              next += area;
              continue;
            }
            const { pixels, width } = frames[t] as DecodedImage;
            for (let y = 0; y < patchSize; y++) {
              let from = ((top + y) * width + left) * 3 + channel;
              for (let x = 0; x < patchSize; x++, from += 3) {
                patches[next++] = table[pixels[from] as number] as number;
              }
            }
          }
        }
      }
    }
  }
  return next;
}
