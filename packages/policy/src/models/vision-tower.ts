/** The vision tower of a model configuration: images in, features of their placeholders out. */
import {
  type ParameterSpec,
  type Parameters,
  type VisionTowerShape,
  visionTower,
  visionTowerSpecs,
} from '@saccade/nn';
import type { Device } from '@saccade/ops';
import { type Tensor, tensor } from '@saccade/tensor';
import type { ModelImage } from '../batch.ts';
import { type ModelConfig, VISION_EPS, VISION_ROPE_THETA } from './config.ts';

const CHANNELS = 3;

/** Features of all images, one row a merged unit, in the order of their placeholders: [E, D]. */
export function visualFeatures(
  device: Device,
  parameters: Parameters,
  config: ModelConfig,
  images: readonly ModelImage[],
): Tensor {
  const { vision } = config;
  const patchDim = CHANNELS * vision.temporalPatchSize * vision.patchSize ** 2;
  const pixels = new Float32Array(images.reduce((sum, { patches }) => sum + patches.length, 0));
  let offset = 0;
  for (const { patches } of images) {
    pixels.set(patches, offset);
    offset += patches.length;
  }
  const patches = tensor(device, 'f32', [pixels.length / patchDim, patchDim], pixels);
  const grids = images.map(({ gridHeight, gridWidth }) => {
    return { frames: 1, height: gridHeight, width: gridWidth };
  });
  return visionTower(parameters, 'visual', towerShape(config), { patches, grids });
}

/** Parameters of the tower, under Hugging Face's names. */
export function visionSpecs(config: ModelConfig): readonly ParameterSpec[] {
  return visionTowerSpecs('visual', towerShape(config));
}

function towerShape({ vision, hidden }: ModelConfig): VisionTowerShape {
  return {
    ...vision,
    outputHidden: hidden,
    channels: CHANNELS,
    eps: VISION_EPS,
    ropeTheta: VISION_ROPE_THETA,
  };
}
