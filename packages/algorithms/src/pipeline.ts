/** Runs the stages of a step in their order, up to where a minibatch is split. */
import type {
  Algorithm,
  Correction,
  GlobalCounts,
  Step,
  TokenAdvantages,
  TokenBatch,
} from './algorithm.ts';
import { countGlobally } from './counts.ts';

/** A step as `loss` takes it, without the current log-probs. */
export interface PreparedStep {
  /** The constant fields of a `TokenBatch`; spread it beside `logprobs` and `entropy`. */
  readonly batch: Omit<TokenBatch, 'logprobs' | 'entropy' | 'values' | 'marks'>;
  readonly counts: GlobalCounts;
  /** Metrics of the correction, where there is one. */
  readonly metrics: Readonly<Record<string, number>>;
}

/**
 * Runs `correct`, then `tokenAdvantages` on the tokens that the correction has left, over a whole step,
 * with its weights and the mask from before. If it has left nothing, all advantages are 0.
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
 * A minibatch with the marks of `select`, and its counts with theirs; both as they are where the
 * algorithm selects nothing. Call it before the minibatch is split, at its current log-probs.
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
