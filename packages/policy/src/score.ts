/** Scores a packed batch: the whole forward from tokens and images to log-probs and entropies. */
import type { SegmentPlan } from '@saccade/attention';
import { expectLength } from '@saccade/core';
import type { Parameters } from '@saccade/nn';
import type { Device } from '@saccade/ops';
import { attention, gatherRows, linearLogprob, type Tensor, tensor } from '@saccade/tensor';
import type { PackedBatch, ScoreOptions } from './batch.ts';
import { type DecoderInput, featuresOf, type LanguageModel } from './models/language-model.ts';
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
  model: LanguageModel,
  plan: SegmentPlan,
  batch: PackedBatch,
  temperature: number,
  { sumSquaredProbs = false }: ScoreOptions = {},
): ScoredTensors {
  checkBatch(model, plan, batch);
  const input = decoderInput(device, parameters, model, plan, batch);
  const segments = tensor(device, 'i32', [plan.segmentCount, 3], plan.segments);
  const x = model.decode(device, parameters, input, (_, q, k, v) =>
    attention(q, k, v, segments, { isCausal: true }),
  );
  const index = tensor(device, 'i32', [batch.rows.length], batch.rows);
  const hidden = model.finalNorm(parameters, gatherRows(x, index));
  const targets = tensor(device, 'i32', [batch.targets.length], batch.targets);
  const values = predictValues(parameters, hidden);
  const head = model.head(parameters);
  return {
    ...linearLogprob(hidden, head, targets, temperature),
    ...(values !== undefined && { values }),
    ...(sumSquaredProbs && {
      sharpened: linearLogprob(hidden, head, targets, temperature / 2).logprobs,
    }),
  };
}

/** Tokens, positions and images of all segments; a segment's positions go on from its parent's. */
function decoderInput(
  device: Device,
  parameters: Parameters,
  model: LanguageModel,
  plan: SegmentPlan,
  { segments }: PackedBatch,
): DecoderInput {
  const { tokenCount } = plan;
  const ids = new Int32Array(tokenCount);
  const positions = new Int32Array(3 * tokenCount);
  const next = new Int32Array(segments.length);
  let start = 0;
  segments.forEach((segment, s) => {
    const first = segment.parent < 0 ? 0 : (next[segment.parent] as number);
    const at = model.place(segment.tokens, segment.images, first);
    ids.set(at.ids, start);
    positions.set(at.temporal, start);
    positions.set(at.height, tokenCount + start);
    positions.set(at.width, 2 * tokenCount + start);
    next[s] = at.next;
    start += segment.tokens.length;
  });
  const images = segments.flatMap((segment) => segment.images);
  return { ids, positions, features: featuresOf(model, device, parameters, images) };
}

/**
 * @throws ShapeError if rows and targets do not pair up
 * @throws DataError naming the first token, row or target that is out of range
 */
function checkBatch(model: LanguageModel, { tokenCount }: SegmentPlan, batch: PackedBatch): void {
  const { rows, targets, segments } = batch;
  expectLength('targets', targets.length, rows.length);
  for (const { tokens } of segments) expectRange('Token', tokens, 0, model.vocabSize);
  expectRange('Row', rows, 0, tokenCount);
  expectRange('Target', targets, -1, model.vocabSize);
}
