/** The vision tower: patches → windowed and full attention blocks → merged visual features. */
import {
  type BlockShape,
  blockSpecs,
  type ParameterSpec,
  type Parameters,
  parameter,
  transformerBlock,
  visionNames,
  visionRotaryTable,
} from '@saccade/nn';
import type { Device } from '@saccade/ops';
import { attention, gatherRows, gelu, linear, rmsNorm, type Tensor, tensor } from '@saccade/tensor';
import type { ModelImage } from '../batch.ts';
import { type ModelConfig, VISION_EPS, VISION_ROPE_THETA, type VisionConfig } from './config.ts';

/** Where patches go when pictures are cut into windows; counts are of merged units of patches. */
interface Layout {
  /** [U] unit that stands at each place once windows are contiguous. */
  readonly order: Int32Array;
  /** [U] place of each unit: the inverse. */
  readonly inverse: Int32Array;
  readonly isIdentity: boolean;
  /** Patches of each window, in order. */
  readonly windowSizes: readonly number[];
  /** Patches of each picture. */
  readonly imageSizes: readonly number[];
  /** [P] row and column of each patch, in window order. */
  readonly rows: Int32Array;
  readonly columns: Int32Array;
}

/** Features of all pictures, one row a merged unit, in the order of their placeholders: [E, D]. */
export function visualFeatures(
  device: Device,
  parameters: Parameters,
  config: ModelConfig,
  images: readonly ModelImage[],
): Tensor {
  const { vision } = config;
  const unit = vision.mergeSize ** 2;
  const layout = layOut(vision, images);
  const patchDim = 3 * vision.temporalPatchSize * vision.patchSize ** 2;
  const pixels = new Float32Array(layout.rows.length * patchDim);
  let offset = 0;
  for (const { patches } of images) {
    pixels.set(patches, offset);
    offset += patches.length;
  }
  const shape = visionShape(vision);
  const patchWeight = parameter(parameters, 'visual.patch_embed.proj.weight');
  let x = linear(
    tensor(device, 'f32', [layout.rows.length, patchDim], pixels),
    patchWeight.reshape([vision.hidden, patchDim]),
  );
  x = permuteUnits(device, x, layout.order, layout.isIdentity, unit * vision.hidden);
  const table = visionRotaryTable(layout.rows, layout.columns, shape.headDim, VISION_ROPE_THETA);
  const angles = [layout.rows.length, shape.headDim / 2];
  const cos = tensor(device, 'f32', angles, table.cos);
  const sin = tensor(device, 'f32', angles, table.sin);
  const windows = independentSegments(device, layout.windowSizes);
  const pictures = independentSegments(device, layout.imageSizes);
  for (let block = 0; block < vision.depth; block++) {
    const segments = vision.fullAttentionBlocks.includes(block) ? pictures : windows;
    const prefix = `visual.blocks.${block}`;
    x = transformerBlock(parameters, prefix, visionNames, shape, x, cos, sin, (q, k, v) =>
      attention(q, k, v, segments, { isCausal: false }),
    );
  }
  const part = (name: string) => parameter(parameters, `visual.merger.${name}`);
  const merged = rmsNorm(x, part('ln_q.weight'), VISION_EPS).reshape([-1, unit * vision.hidden]);
  const inner = gelu(linear(merged, part('mlp.0.weight'), part('mlp.0.bias')));
  const features = linear(inner, part('mlp.2.weight'), part('mlp.2.bias'));
  if (layout.isIdentity) return features;
  return gatherRows(features, tensor(device, 'i32', [layout.inverse.length], layout.inverse));
}

/** Parameters of the tower, under Hugging Face's names. */
export function visionSpecs(config: ModelConfig): readonly ParameterSpec[] {
  const { vision } = config;
  const merged = vision.hidden * vision.mergeSize ** 2;
  const patch = [3, vision.temporalPatchSize, vision.patchSize, vision.patchSize];
  const matrix = (name: string, shape: readonly number[]): ParameterSpec => ({
    name: `visual.${name}`,
    shape,
    initializer: { kind: 'scaledNormal', gain: 1 },
  });
  const vector = (name: string, length: number, value: number): ParameterSpec => ({
    name: `visual.${name}`,
    shape: [length],
    initializer: { kind: 'constant', value },
  });
  return [
    matrix('patch_embed.proj.weight', [vision.hidden, ...patch]),
    ...Array.from({ length: vision.depth }, (_, block) =>
      blockSpecs(`visual.blocks.${block}`, visionNames, visionShape(vision)),
    ).flat(),
    vector('merger.ln_q.weight', vision.hidden, 1),
    matrix('merger.mlp.0.weight', [merged, merged]),
    vector('merger.mlp.0.bias', merged, 0),
    matrix('merger.mlp.2.weight', [config.hidden, merged]),
    vector('merger.mlp.2.bias', config.hidden, 0),
  ];
}

function visionShape(vision: VisionConfig): BlockShape {
  return {
    hidden: vision.hidden,
    heads: vision.heads,
    kvHeads: vision.heads,
    headDim: vision.hidden / vision.heads,
    intermediate: vision.intermediate,
    eps: VISION_EPS,
  };
}

function permuteUnits(
  device: Device,
  x: Tensor,
  order: Int32Array,
  isIdentity: boolean,
  unitWidth: number,
): Tensor {
  if (isIdentity) return x;
  const [, width] = x.shape;
  const index = tensor(device, 'i32', [order.length], order);
  return gatherRows(x.reshape([-1, unitWidth]), index).reshape([-1, width as number]);
}

function independentSegments(device: Device, sizes: readonly number[]): Tensor {
  const segments = new Int32Array(sizes.length * 3);
  let start = 0;
  sizes.forEach((size, s) => {
    segments.set([start, start + size, -1], s * 3);
    start += size;
  });
  return tensor(device, 'i32', [sizes.length, 3], segments);
}

/** Patches come in merge order: all patches of a unit, units row by row. Windows tile the units. */
function layOut(vision: VisionConfig, images: readonly ModelImage[]): Layout {
  const { mergeSize } = vision;
  const side = Math.floor(vision.windowSize / mergeSize / vision.patchSize);
  const order: number[] = [];
  const windowSizes: number[] = [];
  const imageSizes: number[] = [];
  const rows: number[] = [];
  const columns: number[] = [];
  let firstUnit = 0;
  for (const { gridHeight, gridWidth } of images) {
    const unitRows = gridHeight / mergeSize;
    const unitColumns = gridWidth / mergeSize;
    for (let top = 0; top < unitRows; top += side) {
      for (let left = 0; left < unitColumns; left += side) {
        let units = 0;
        for (let r = top; r < Math.min(top + side, unitRows); r++) {
          for (let c = left; c < Math.min(left + side, unitColumns); c++, units++) {
            order.push(firstUnit + r * unitColumns + c);
            for (let patch = 0; patch < mergeSize ** 2; patch++) {
              rows.push(r * mergeSize + Math.floor(patch / mergeSize));
              columns.push(c * mergeSize + (patch % mergeSize));
            }
          }
        }
        windowSizes.push(units * mergeSize ** 2);
      }
    }
    imageSizes.push(gridHeight * gridWidth);
    firstUnit += unitRows * unitColumns;
  }
  const inverse = new Int32Array(order.length);
  order.forEach((unit, place) => {
    inverse[unit] = place;
  });
  return {
    order: Int32Array.from(order),
    inverse,
    isIdentity: order.every((unit, place) => unit === place),
    windowSizes,
    imageSizes,
    rows: Int32Array.from(rows),
    columns: Int32Array.from(columns),
  };
}
