/** A mixture of experts: a feed-forward layer of many, of which every token uses a few. */
import {
  expertLinear,
  gatherRows,
  linear,
  routeExperts,
  swiglu,
  type Tensor,
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

/**
 * y = Σₖ wₖ·downₑ(silu(gateₑ(x))·upₑ(x)), e the k-th expert of the token
 *
 * The router's probabilities are a softmax over all experts in float32; the K largest are divided by
 * their sum. Qwen3, arXiv:2505.09388. Below the layer's name: `gate.weight` [E, hidden],
 * `experts.gate_up_proj` [E, 2·intermediate, hidden] with the rows of gate before those of up, and
 * `experts.down_proj` [E, hidden, intermediate].
 */
export function expertsFeedForward(shape: ExpertShape): FeedForward {
  return {
    specs: (name, hidden) => expertSpecs(name, hidden, shape),
    apply: (parameters, name, x) => applyExperts(parameters, name, x, shape),
  };
}

function applyExperts(
  parameters: Parameters,
  name: string,
  x: Tensor,
  { perToken, intermediate }: ExpertShape,
): Tensor {
  const [tokens = 0, hidden = 0] = x.shape;
  const rows = tokens * perToken;
  const logits = linear(x, parameter(parameters, `${name}.gate.weight`));
  const { weights, experts } = routeExperts(logits, { topK: perToken, normalize: true });
  const own = experts.reshape([rows]);
  const every = (of: (row: number) => number) =>
    indexTensor(
      x.device,
      Int32Array.from({ length: rows }, (_, row) => of(row)),
    );
  const copies = gatherRows(
    x,
    every((row) => Math.floor(row / perToken)),
  );
  const joined = parameter(parameters, `${name}.experts.gate_up_proj`);
  const both = expertLinear(copies, own, joined).reshape([2 * rows, intermediate]);
  const gate = gatherRows(
    both,
    every((row) => 2 * row),
  );
  const up = gatherRows(
    both,
    every((row) => 2 * row + 1),
  );
  const down = parameter(parameters, `${name}.experts.down_proj`);
  const y = expertLinear(swiglu(gate, up), own, down);
  return weightedSum(y.reshape([tokens, perToken, hidden]), weights);
}

function expertSpecs(
  name: string,
  hidden: number,
  { experts, intermediate }: ExpertShape,
): readonly ParameterSpec[] {
  const spread = (width: number) => ({ kind: 'normal', std: 1 / Math.sqrt(width) }) as const;
  return [
    { name: `${name}.gate.weight`, shape: [experts, hidden], initializer: spread(hidden) },
    {
      name: `${name}.experts.gate_up_proj`,
      shape: [experts, 2 * intermediate, hidden],
      initializer: spread(hidden),
    },
    {
      name: `${name}.experts.down_proj`,
      shape: [experts, hidden, intermediate],
      initializer: spread(intermediate),
    },
  ];
}
