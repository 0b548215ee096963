/** Runs the stages of a step in order, up to the split of a minibatch. */
import type {
  Algorithm,
  Correction,
  GlobalCounts,
  Step,
  TokenAdvantages,
  TokenBatch,
} from './algorithm.ts';
import { countGlobally } from './counts.ts';

/** The inputs of `loss` for a whole step, without the current policy's outputs. */
export interface PreparedStep {
  /** The constant fields of a `TokenBatch`; spread it beside `logprobs` and `entropy`. */
  readonly batch: Omit<TokenBatch, 'logprobs' | 'entropy' | 'values' | 'marks'>;
  readonly counts: GlobalCounts;
  /** Metrics of the correction, if there is one. */
  readonly metrics: Readonly<Record<string, number>>;
}

/**
 * Runs `correct` over a whole step, then `tokenAdvantages` on the tokens that are left, with the
 * correction's weights and the mask from before. If no token is left, all advantages are 0.
 *
 * @throws ConfigError naming an input of the step that the algorithm needs
 */
export function prepareStep(
  algorithm: Algorithm,
  step: Step & { readonly oldLogprobs: NonNullable<Step['oldLogprobs']> },
): PreparedStep {
  const { sequenceOffsets, oldLogprobs, refLogprobs, rolloutLogprobs, values } = step;
  const correction: Correction | undefined = algorithm.correct?.(step);
  const lossMask = correction?.lossMask ?? step.lossMask;
  const isEmpty = correction?.lossMask.every((mask) => mask === 0) ?? false;
  const { advantages, returns }: TokenAdvantages = isEmpty
    ? { advantages: new Float64Array(lossMask.length) }
    : algorithm.tokenAdvantages({
        ...step,
        lossMask,
        ...(correction && { rewardMask: step.lossMask, tokenWeights: correction.tokenWeights }),
      });
  return {
    batch: {
      oldLogprobs,
      advantages,
      lossMask,
      sequenceOffsets,
      ...(refLogprobs && { refLogprobs }),
      ...(rolloutLogprobs && { rolloutLogprobs }),
      ...(correction && { tokenWeights: correction.tokenWeights }),
      ...(values && { oldValues: values }),
      ...(returns && { returns }),
    },
    counts: countGlobally([{ lossMask, sequenceOffsets }]),
    metrics: correction?.metrics ?? {},
  };
}

/**
 * Runs `select` over a minibatch and adds its marks and counts; if the algorithm selects nothing,
 * both are returned unchanged. Call it at the current log-probs, before the minibatch is split.
 */
export function selectTokens<Batch extends TokenBatch>(
  algorithm: Algorithm,
  minibatch: Batch,
  counts: GlobalCounts,
): { readonly batch: Batch; readonly counts: GlobalCounts } {
  const selection = algorithm.select?.(minibatch);
  if (selection === undefined) return { batch: minibatch, counts };
  const { marks, selectedTokens } = selection;
  return { batch: { ...minibatch, marks }, counts: { ...counts, selectedTokens } };
}
