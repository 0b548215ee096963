/** Scores a packed batch: the whole forward from tokens and images to log-probs and entropies. */
import type { SegmentPlan } from '@saccade/attention';
import { expectLength } from '@saccade/core';
import type { Parameters } from '@saccade/nn';
import type { Device } from '@saccade/ops';
import { attention, gatherRows, linearLogprob, type Tensor, tensor } from '@saccade/tensor';
import type { PackedBatch, ScoreOptions } from './batch.ts';
import type { ModelConfig } from './models/config.ts';
import { placeTokens } from './models/positions.ts';
import { decode, finalNorm, lmHead } from './models/qwen2-5-vl.ts';
import { predictValues } from './models/value-head.ts';
import { expectRange } from './ranges.ts';

/** The tensors that make up `Scores`: [N] each, on the device. */
export interface ScoredTensors {
  readonly logprobs: Tensor;
  readonly entropy: Tensor;
  readonly values?: Tensor;
  /** Log-probs at half the temperature, where the sum of squared probabilities was asked for. */
  readonly sharpened?: Tensor;
}

/** Scores the batch's targets. */
export function scorePacked(
  device: Device,
  parameters: Parameters,
  config: ModelConfig,
  plan: SegmentPlan,
  batch: PackedBatch,
  temperature: number,
  { sumSquaredProbs = false }: ScoreOptions = {},
): ScoredTensors {
  checkBatch(config, plan, batch);
  const input = decoderInput(config, plan, batch);
  const segments = tensor(device, 'i32', [plan.segmentCount, 3], plan.segments);
  const x = decode(device, parameters, config, input, (_, q, k, v) =>
    attention(q, k, v, segments, { isCausal: true }),
  );
  const index = tensor(device, 'i32', [batch.rows.length], batch.rows);
  const hidden = finalNorm(parameters, config, gatherRows(x, index));
  const targets = tensor(device, 'i32', [batch.targets.length], batch.targets);
  const values = predictValues(parameters, hidden);
  const head = lmHead(parameters, config);
  return {
    ...linearLogprob(hidden, head, targets, temperature),
    ...(values !== undefined && { values }),
    ...(sumSquaredProbs && {
      sharpened: linearLogprob(hidden, head, targets, temperature / 2).logprobs,
    }),
  };
}

/** Tokens, positions and images of all segments; a segment's positions go on from its parent's. */
function decoderInput(config: ModelConfig, plan: SegmentPlan, { segments }: PackedBatch) {
  const { tokenCount } = plan;
  const ids = new Int32Array(tokenCount);
  const positions = new Int32Array(3 * tokenCount);
  const next = new Int32Array(segments.length);
  let start = 0;
  segments.forEach((segment, s) => {
    const at = placeTokens(
      segment.tokens,
      segment.images,
      segment.parent < 0 ? 0 : (next[segment.parent] as number),
      config,
      config.vision.mergeSize,
    );
    ids.set(at.ids, start);
    positions.set(at.temporal, start);
    positions.set(at.height, tokenCount + start);
    positions.set(at.width, 2 * tokenCount + start);
    next[s] = at.next;
    start += segment.tokens.length;
  });
  return { ids, positions, images: segments.flatMap(({ images }) => images) };
}

/**
 * @throws ShapeError if rows and targets do not pair up
 * @throws DataError naming the first token, row or target that is out of range
 */
function checkBatch(config: ModelConfig, { tokenCount }: SegmentPlan, batch: PackedBatch): void {
  const { rows, targets, segments } = batch;
  expectLength('targets', targets.length, rows.length);
  for (const { tokens } of segments) expectRange('Token', tokens, 0, config.vocabSize);
  expectRange('Row', rows, 0, tokenCount);
  expectRange('Target', targets, -1, config.vocabSize);
}
