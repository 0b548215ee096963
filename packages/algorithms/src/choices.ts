/** Types of the choices that make up an algorithm. */
import type {
  FloatArray,
  GlobalCounts,
  ScoredGroup,
  Step,
  TokenAdvantages,
  TokenBatch,
} from './algorithm.ts';

/** A whole group → [G] advantages. */
export type GroupAdvantage = (group: ScoredGroup) => Float64Array;

/** A whole step with its groups' advantages → [N] advantages. */
export type TokenAdvantage = (step: Step) => TokenAdvantages;

/** An importance ratio of the current policy to another one, with its backward. */
export interface Ratio {
  /** [N] ρ. Values where the mask is 0 are not read. */
  forward(batch: TokenBatch): Float64Array;
  /** [N] ∂L/∂ρ, 0 where the mask is 0 → [N] ∂L/∂logprobs. */
  backward(batch: TokenBatch, ratios: Float64Array, gradRatios: Float64Array): Float64Array;
  /** [N] constant factors of the surrogate loss, in place of the batch's tokenWeights. */
  weights?(batch: TokenBatch): Float64Array;
  /** [N] codes of `clip`, if the ratio itself has bounds. */
  clips?(batch: TokenBatch): Uint8Array;
}

/** A loss per token, not yet masked or aggregated, and its derivatives. */
export interface SurrogateValues {
  /** [N] loss to minimize. */
  readonly losses: Float64Array;
  /** [N] ∂losses/∂ρ. */
  readonly gradRatios: Float64Array;
  /** [N] ∂losses/∂logprobs at fixed ρ; absent means zero. */
  readonly gradLogprobs?: Float64Array;
  /** [N] codes of `clip`: the bound that held each token back. */
  readonly clips: Uint8Array;
}

/** The values from which a surrogate computes the per-token losses. */
export interface SurrogateInput {
  /** [N] importance ratios ρ. */
  readonly ratios: Float64Array;
  /** [N] constant. */
  readonly advantages: FloatArray;
  /** [N] nats, current policy. */
  readonly logprobs: FloatArray;
  /** [N] nats, constant. */
  readonly oldLogprobs: FloatArray;
  /** [N] bits of `mark`, if the algorithm selects tokens. */
  readonly marks?: Uint8Array;
}

/**
 * A loss per token as a function of ratio, advantage and log-prob, with its derivatives by ρ and by
 * the log-prob. Entries where the mask is 0 may hold anything; their results are not read.
 */
export type Surrogate = (input: SurrogateInput) => SurrogateValues;

/** An estimate of KL(policy ‖ other) at one token, and its derivative by `logprob`. */
export type KlEstimate = (
  logprob: number,
  otherLogprob: number,
) => { readonly value: number; readonly grad: number };

/**
 * The weight of every token in the loss: loss = Σ weightₜ · lossₜ. All aggregations are of this
 * form, and with the step's counts in the denominator they add up over micro-batches.
 */
export type Aggregation = (
  lossMask: FloatArray,
  sequenceOffsets: Int32Array,
  counts: GlobalCounts,
) => Float64Array;

/** Sets bits of a whole minibatch's marks. */
export type Selector = (minibatch: TokenBatch, marks: Uint8Array) => void;

/**
 * How the groups' advantages follow from rewards less KL:
 *
 * - `group`: computed again from the group's new rewards;
 * - `centered`: the old ones minus the KL in excess of the group's mean, for advantages that depend
 *   on more than the group's rewards (GDPO's components);
 * - `tokens`: unchanged; the token stage reads the token rewards (ReMax).
 */
export type KlRewardMode = 'group' | 'centered' | 'tokens';

/** The choices of an algorithm's file. The shared ones follow from its settings. */
export interface Choices {
  readonly groupAdvantage: GroupAdvantage;
  /** Absent if every token gets its sequence's advantage. */
  readonly tokenAdvantage?: TokenAdvantage;
  readonly surrogate: Surrogate;
  readonly selectors?: readonly Selector[];
  /** Whether the surrogate stops the gradient of its ratio. */
  readonly isRatioConstant?: boolean;
  /** Inputs its units read, for `Algorithm.needs`. */
  readonly needs?: readonly string[];
  /** Present if the loss has a value term. */
  readonly value?: ValueTerm;
  /** Settings of its units that never have an effect here. */
  readonly unread?: readonly string[];
  /** How advantages follow from rewards less KL. Default `group`. */
  readonly klReward?: KlRewardMode;
  /** The token stage for KL in the reward, if the algorithm itself has none. */
  readonly klTokenAdvantage?: TokenAdvantage;
  /** Whether the advantages come from rewards (the default) or from a teacher's log-probs. */
  readonly signal?: 'reward' | 'teacher';
}

/** The value term of a loss: coefficient · `clippedValueLoss`. */
export interface ValueTerm {
  /** Largest distance of a value from the old one, in units of the return; 0 for no bound. */
  readonly clip: number;
  /** Weight of the value loss. */
  readonly coefficient: number;
}
