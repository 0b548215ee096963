/** The input of a vision tower: the patches of many images as one tensor, and their grids. */
import type { Parameters, PatchGrid } from '@saccade/nn';
import type { Device } from '@saccade/ops';
import { type Tensor, tensor } from '@saccade/tensor';
import type { ModelImage } from '../batch.ts';
import { activationDtype } from './activation-dtype.ts';
import { gridCount } from './image-markup.ts';

/** Color channels of an image. */
export const CHANNELS = 3;

/** The patches of all images, [P, patchDim], in order, and the grid of each image. */
export function visionInput(
  device: Device,
  parameters: Parameters,
  images: readonly ModelImage[],
  patchDim: number,
): { readonly patches: Tensor; readonly grids: readonly PatchGrid[] } {
  const pixels = new Float32Array(images.reduce((sum, { patches }) => sum + patches.length, 0));
  let offset = 0;
  for (const { patches } of images) {
    pixels.set(patches, offset);
    offset += patches.length;
  }
  const shape = [pixels.length / patchDim, patchDim];
  const patches = tensor(device, activationDtype(parameters), shape, pixels);
  const grids = images.map((image) => {
    return { frames: gridCount(image), height: image.gridHeight, width: image.gridWidth };
  });
  return { patches, grids };
}
