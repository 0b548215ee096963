/** How the gradients of any loss reach a server that knows only losses with names. */
import type { DatumInput, TinkerModel } from '../client/tinker-model.ts';
import { type PathData, spread } from './path-data.ts';

/** A loss of the server that is linear in what it is given, up to factors that were measured. */
export interface LinearPath {
  /**
   * `cross_entropy`: −Σ w·logprob with w = −∂L/∂logprob; `importance_sampling`: −Σ r·A at r = 1 with
   * A = −∂L/∂logprob.
   */
  readonly loss: 'cross_entropy' | 'importance_sampling';
  /** Whether it divides by the positions of a datum. */
  readonly perToken: boolean;
  /** Whether it divides by the data of a request. */
  readonly perDatum: boolean;
  /** Whether it divides by the data of all requests since the last step instead. */
  readonly perStep?: boolean;
  /** What is left of the factor: gradients come out times this. */
  readonly scale: number;
}

export const plainPath: LinearPath = {
  loss: 'cross_entropy',
  perToken: false,
  perDatum: false,
  scale: 1,
};

/** A gradient of log-probs, and where it goes. */
export interface PathGradient {
  readonly rows: PathData;
  /** [N] ∂L/∂logprob */
  readonly gradLogprobs: Float32Array;
  /** By datum, as the server gave them for the same weights. */
  readonly logprobs: readonly Float32Array[];
}

/**
 * The data of a request that accumulates Σ g·∂logprob/∂θ.
 *
 * @param divisor data that the server divides by, if it divides by data. Default: those of the request
 */
export function linearData(
  path: LinearPath,
  { rows, gradLogprobs, logprobs }: PathGradient,
  divisor: number = rows.data.length,
): readonly DatumInput[] {
  const { loss, perToken, perDatum, scale } = path;
  const values = spread(rows, (n) => -(gradLogprobs[n] as number));
  return rows.data.map((datum, at) => {
    const tokens = perToken ? datum.targets.length : 1;
    const factor = (tokens * (perDatum ? divisor : 1)) / scale;
    const own = (values[at] as Float32Array).map((value) => value * factor);
    if (loss === 'cross_entropy') return { ...datum, weights: own };
    return { ...datum, advantages: own, logprobs: logprobs[at] as Float32Array };
  });
}

/** Accumulates the gradient of any loss. */
export async function accumulate(
  model: TinkerModel,
  path: LinearPath,
  data: readonly DatumInput[],
): Promise<void> {
  await model.forwardBackward(data, path.loss);
}
