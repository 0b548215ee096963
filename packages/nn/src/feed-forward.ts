/** The second half of a transformer block: what happens to each token alone. */
import { gelu, type Tensor } from '@saccade/tensor';
import { linearLayer, linearSpecs, swigluMlp, swigluMlpSpecs } from './layers.ts';
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

/** second(gelu(first(x))), both with a bias, as most vision towers have it. */
export function geluFeedForward(options: {
  /** Names of the two layers below that of the feed-forward layer. */
  readonly layers: readonly [first: string, second: string];
  /** GELU itself, or its approximation by tanh. */
  readonly approximate: 'none' | 'tanh';
}): FeedForward {
  const [first, second] = options.layers;
  return {
    specs: (name, hidden, intermediate) => [
      ...linearSpecs(`${name}.${first}`, intermediate, hidden, true),
      ...linearSpecs(`${name}.${second}`, hidden, intermediate, true),
    ],
    apply(parameters, name, x) {
      const inner = gelu(linearLayer(parameters, `${name}.${first}`, x, true), options);
      return linearLayer(parameters, `${name}.${second}`, inner, true);
    },
  };
}
