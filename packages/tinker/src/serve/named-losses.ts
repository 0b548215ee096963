/** Losses that the wire names: sums over tokens, with their gradients of log-probs. */
import type { LossAndGradients, LossFunction } from '@saccade/policy';
import type { DataInput, NamedLoss } from '../wire/schemas.ts';
import { wrongField } from '../wire/tinker-error.ts';

interface TokenLoss {
  readonly loss: number;
  /** ∂loss/∂logprob */
  readonly gradient: number;
}

/** The values of one token that a loss reads. */
interface TokenInputs {
  /** Of the policy that sampled it. */
  readonly oldLogprob: number;
  readonly advantage: number;
}

type Config = Readonly<Record<string, number>>;

/** One token's loss for r = exp(logprob − oldLogprob). */
const tokenLosses: Readonly<
  Record<
    Exclude<NamedLoss, 'cross_entropy'>,
    (logprob: number, inputs: TokenInputs, config: Config) => TokenLoss
  >
> = {
  /** −r·A */
  importance_sampling(logprob, { oldLogprob, advantage }) {
    const product = Math.exp(logprob - oldLogprob) * advantage;
    return { loss: -product, gradient: -product };
  },
  /** −min(r·A, clip(r)·A), PPO, arXiv:1707.06347, equation 7 */
  ppo(logprob, { oldLogprob, advantage }, config) {
    const ratio = Math.exp(logprob - oldLogprob);
    const clipped = clip(ratio, config);
    const plain = ratio * advantage;
    const isClipped = clipped * advantage < plain;
    return {
      loss: -Math.min(plain, clipped * advantage),
      gradient: isClipped ? 0 : -plain,
    };
  },
  /** −sg(clip(r))·A·logprob, CISPO, arXiv:2506.13585, equation 4 */
  cispo(logprob, { oldLogprob, advantage }, config) {
    const bounds = { clip_low_threshold: 0, clip_high_threshold: 4, ...config };
    const weight = clip(Math.exp(logprob - oldLogprob), bounds) * advantage;
    return { loss: -weight * logprob, gradient: -weight };
  },
  /** −(A·logprob − ½·β·(logprob − oldLogprob)²), DRO, arXiv:2405.19107 */
  dro(logprob, { oldLogprob, advantage }, { beta = 0.05 }) {
    const difference = logprob - oldLogprob;
    return {
      loss: -(advantage * logprob - 0.5 * beta * difference * difference),
      gradient: -(advantage - beta * difference),
    };
  },
};

function clip(ratio: number, { clip_low_threshold: low = 0.8, clip_high_threshold: high = 1.2 }) {
  return Math.min(Math.max(ratio, low), high);
}

/**
 * The loss of a request over the log-probs of its data, one after another.
 *
 * cross_entropy is −Σ w·logprob: linear in w, of either sign, and not normalized.
 *
 * @throws TinkerError if a datum lacks what the loss reads
 */
export function namedLoss({ loss_fn, loss_fn_config, data }: DataInput): LossFunction {
  const config = loss_fn_config ?? {};
  const arrays = data.map(({ loss_fn_inputs: inputs }, at) => {
    const need = (name: 'weights' | 'logprobs' | 'advantages'): Float32Array => {
      const values = inputs[name];
      if (values !== undefined) return values;
      throw wrongField(
        `data.${at}.loss_fn_inputs.${name}`,
        `${loss_fn} reads it, and it is missing.`,
      );
    };
    const ones = (): Float32Array => new Float32Array(inputs.target_tokens.length).fill(1);
    if (loss_fn === 'cross_entropy') return { weights: need('weights') };
    return {
      oldLogprobs: need('logprobs'),
      advantages: need('advantages'),
      // Positions that do not train have weight 0, where weights are given.
      weights: inputs.weights ?? ones(),
    };
  });
  return ({ logprobs }): LossAndGradients => {
    const gradLogprobs = new Float32Array(logprobs.length);
    let loss = 0;
    let at = 0;
    for (const { weights, oldLogprobs, advantages } of arrays) {
      for (let i = 0; i < weights.length; i++, at++) {
        const logprob = logprobs[at] as number;
        const weight = weights[i] as number;
        if (loss_fn === 'cross_entropy') {
          loss -= weight === 0 ? 0 : weight * logprob;
          gradLogprobs[at] = -weight;
          continue;
        }
        const advantage = advantages?.[i] ?? 0;
        // What a ratio of positions without an advantage is says nothing.
        if (weight === 0 || (advantage === 0 && loss_fn !== 'dro')) continue;
        const inputs = { oldLogprob: oldLogprobs?.[i] ?? 0, advantage };
        const token = tokenLosses[loss_fn](logprob, inputs, config);
        loss += weight * token.loss;
        gradLogprobs[at] = weight * token.gradient;
      }
    }
    return { loss, gradLogprobs };
  };
}
