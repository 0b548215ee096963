/** The element type that a model computes in. */
import type { DType } from '@saccade/core';
import { type Parameters, parameter } from '@saccade/nn';

/**
 * The element type of activations: that of the token embedding, with which the decoder begins. What is
 * multiplied with them has it too: images, adapters, the value head. Sums are f32 in any.
 */
export function activationDtype(parameters: Parameters): DType {
  return parameter(parameters, 'model.embed_tokens.weight').dtype;
}
