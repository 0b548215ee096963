/** A mixture of experts: a feed-forward layer of which every token uses a few parts. */
import {
  expertLinear,
  gatherRows,
  linear,
  routeExperts,
  swiglu,
  type Tensor,
  tensor,
  weightedSum,
} from '@saccade/tensor';
import type { FeedForward } from './feed-forward.ts';
import { type ParameterSpec, type Parameters, parameter } from './parameters.ts';
import { indexTensor } from './vision-rows.ts';

/** Sizes of a mixture of experts. */
export interface ExpertShape {
  /** Experts E of a layer. */
  readonly experts: number;
  /** Experts K that a token uses. */
  readonly perToken: number;
  /** Width of an expert. */
  readonly intermediate: number;
}

/** The experts to use, and where those used are left. */
export interface ExpertRouting {
  /** [T·K] experts by row; −1 throughout a row that the router decides. Default: it decides all. */
  readonly given?: Int32Array | undefined;
  /** Receives the experts [T, K] of the rows. */
  readonly chosen?: ((experts: Tensor) => void) | undefined;
}

/**
 * y = Σₖ wₖ·downₑ(silu(gateₑ(x))·upₑ(x)), e the k-th expert of the token
 *
 * The router's probabilities are a softmax over all experts in float32; the K largest are divided by
 * their sum. Qwen3, arXiv:2505.09388. Below the layer's name: `gate.weight` [E, hidden],
 * `experts.gate_up_proj` [E, 2·intermediate, hidden] and `experts.down_proj` [E, hidden,
 * intermediate].
 */
export function expertsFeedForward(
  { experts: count, perToken, intermediate }: ExpertShape,
  { given, chosen }: ExpertRouting = {},
): FeedForward {
  return {
    specs: (name, hidden) => expertSpecs(name, hidden, count, intermediate),
    apply(parameters: Parameters, name: string, x: Tensor): Tensor {
      const { device } = x;
      const [tokens = 0, hidden = 0] = x.shape;
      const rows = tokens * perToken;
      const places = (of: (row: number) => number, length: number) =>
        indexTensor(
          device,
          Int32Array.from({ length }, (_, row) => of(row)),
        );
      const wanted = given ?? new Int32Array(rows).fill(-1);
      const { weights, experts } = routeExperts(
        linear(x, parameter(parameters, `${name}.gate.weight`)),
        tensor(device, 'i32', [tokens, perToken], wanted),
      );
      chosen?.(experts);
      const own = experts.reshape([rows]);
      const copies = gatherRows(
        x,
        places((row) => Math.floor(row / perToken), rows),
      );
      const both = expertLinear(
        copies,
        own,
        parameter(parameters, `${name}.experts.gate_up_proj`),
      ).reshape([2 * rows, intermediate]);
      const gate = gatherRows(
        both,
        places((row) => 2 * row, rows),
      );
      const up = gatherRows(
        both,
        places((row) => 2 * row + 1, rows),
      );
      const down = parameter(parameters, `${name}.experts.down_proj`);
      const y = expertLinear(swiglu(gate, up), own, down);
      return weightedSum(y.reshape([tokens, perToken, hidden]), weights);
    },
  };
}

function expertSpecs(
  name: string,
  hidden: number,
  count: number,
  intermediate: number,
): readonly ParameterSpec[] {
  const spread = (width: number) => ({ kind: 'normal', std: 1 / Math.sqrt(width) }) as const;
  return [
    { name: `${name}.gate.weight`, shape: [count, hidden], initializer: spread(hidden) },
    {
      name: `${name}.experts.gate_up_proj`,
      shape: [count, 2 * intermediate, hidden],
      initializer: spread(hidden),
    },
    {
      name: `${name}.experts.down_proj`,
      shape: [count, hidden, intermediate],
      initializer: spread(intermediate),
    },
  ];
}
