/** The second half of a transformer block: what happens to each token alone. */
import type { Tensor } from '@saccade/tensor';
import { swigluMlp, swigluMlpSpecs } from './layers.ts';
import type { ParameterSpec, Parameters } from './parameters.ts';

/** A feed-forward layer: its parameters below a name, and the layer itself. */
export interface FeedForward {
  specs(name: string, hidden: number, intermediate: number): readonly ParameterSpec[];
  /** x [T, hidden] → [T, hidden]. */
  apply(parameters: Parameters, name: string, x: Tensor): Tensor;
}

/** down(silu(gate(x))·up(x)), as decoders and Qwen2.5-VL's vision tower have it. */
export function swigluFeedForward({ hasBias }: { readonly hasBias: boolean }): FeedForward {
  return {
    specs: (name, hidden, intermediate) => swigluMlpSpecs(name, hidden, intermediate, hasBias),
    apply: (parameters, name, x) => swigluMlp(parameters, name, x, hasBias),
  };
}
