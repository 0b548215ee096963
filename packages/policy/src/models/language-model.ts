/** A language model as the engine, scoring and files see it. */
import type { ParameterSpec, Parameters } from '@saccade/nn';
import type { Device } from '@saccade/ops';
import type { Tensor } from '@saccade/tensor';
import type { ModelImage } from '../batch.ts';
import type { Json } from './config-fields.ts';
import type { Placement } from './positions.ts';

/** The decoder's input for N token rows. */
export interface DecoderInput {
  /** [N] token ids; VISUAL rows take the images' features in order. */
  readonly ids: Int32Array;
  /** [3, N] temporal, height and width positions; equal for text. */
  readonly positions: Int32Array;
  /** The result of `encodeImages` for the images of the placeholders; empty without images. */
  readonly features: readonly Tensor[];
}

/** Attention of decoder layer `layer`; q [N, H, D], k and v [N, G, D], q and k rotated. */
export type LayerAttend = (layer: number, q: Tensor, k: Tensor, v: Tensor) => Tensor;

/** A tensor of a checkpoint, and the part of its rows that a parameter is. */
export interface StoredTensor {
  readonly name: string;
  /** Where several parameters are stored as one: `of` equal parts of the first axis. */
  readonly part?: { readonly index: number; readonly of: number };
  /** Whether published checkpoints have its matrices transposed, [..., K, N] for [..., N, K]. */
  readonly isTransposed?: boolean;
}

/** A model without its weights: sizes, parameters, and the forward pass. */
export interface LanguageModel {
  /** `model_type` of the configuration. */
  readonly architecture: string;
  /** Rows of the token embedding and of the LM head. */
  readonly vocabSize: number;
  /** Width of the residual stream. */
  readonly hidden: number;
  /** Decoder layers. */
  readonly layers: number;
  /** Key and value heads of a decoder layer. */
  readonly kvHeads: number;
  /** Size of a head of the decoder. */
  readonly headDim: number;
  /** Longest context, tokens. */
  readonly maxPositions: number;
  /** Every parameter with its shape and start, in order. */
  readonly specs: readonly ParameterSpec[];
  /** How checkpoints store a parameter. */
  storedAs(parameter: string): StoredTensor;
  /** Other names that versions of transformers give a stored tensor. */
  alternatives(name: string): readonly string[];
  /**
   * The decoder's inputs for tokens whose first has the position `start`.
   *
   * @throws DataError if an image has no placeholders
   */
  place(tokens: Int32Array, images: readonly ModelImage[], start: number): Placement;
  /** Number of the images whose placeholders are complete in `tokens`, in order. */
  countImages(tokens: Int32Array, images: readonly ModelImage[]): number;
  /**
   * Features of the images, one row a placeholder: [E, hidden]; further levels of the vision tower
   * follow where the decoder takes them. Absent for a model without vision.
   */
  encodeImages?(
    device: Device,
    parameters: Parameters,
    images: readonly ModelImage[],
  ): readonly Tensor[];
  /** Hidden states before the final norm: [N, hidden]. */
  decode(device: Device, parameters: Parameters, input: DecoderInput, attend: LayerAttend): Tensor;
  /** The final norm of [N, hidden]: the rows the LM head takes. */
  finalNorm(parameters: Parameters, x: Tensor): Tensor;
  /** The LM head [V, hidden]; the token embedding itself where they are tied. */
  head(parameters: Parameters): Tensor;
  /** The `config.json` that transformers reads. */
  configJson(endOfTurn: number): Json;
}

/** Features of images for a decoder's input; none without images. */
export function featuresOf(
  model: LanguageModel,
  device: Device,
  parameters: Parameters,
  images: readonly ModelImage[],
): readonly Tensor[] {
  if (images.length === 0) return [];
  return model.encodeImages?.(device, parameters, images) ?? [];
}
