/** Whether images reach the model: another image changes what comes after it, and nothing before. */
import { randomAt, SaccadeError, UnsupportedError } from '@saccade/core';
import type { ModelImage, PackedBatch, TrainedPolicy } from '@saccade/policy';
import { encode } from 'fast-png';
import type { TinkerModel } from '../client/tinker-model.ts';
import { forestRequest } from '../remote/forest-request.ts';
import { gathered, pathData, spread } from '../remote/path-data.ts';
import type { Finding } from './measurement.ts';

type Processor = TrainedPolicy['processor'];

const SIDE = 112;

/** A PNG of random pixels. */
function randomPng(seed: number, side = SIDE): Uint8Array {
  const random = randomAt(seed, 'image');
  const data = Uint8Array.from({ length: side * side * 3 }, () => random.integer(256));
  return encode({ width: side, height: side, channels: 3, data });
}

/** @throws UnsupportedError if the processor is that of a model of text alone */
export function imageTokenOf({ imageToken }: Processor): number {
  if (imageToken !== undefined) return imageToken;
  throw new UnsupportedError(
    'This processor takes no images. Give that of a vision-language model, or leave images out.',
  );
}

/** A prompt with an image, every position but the image's own scored. */
export async function imageBatch(
  processor: Processor,
  seed: number,
): Promise<{ readonly batch: PackedBatch; readonly image: ModelImage; readonly first: number }> {
  const image = await processor.prepareImage(randomPng(seed));
  const { tokens, images } = processor.encodePrompt([
    { kind: 'image', image },
    { kind: 'text', text: 'What is hidden?' },
  ]);
  const imageToken = imageTokenOf(processor);
  const first = tokens.indexOf(imageToken);
  const last = tokens.lastIndexOf(imageToken);
  const all = Array.from(tokens, (_, i) => i).slice(0, -1);
  const scored = all.filter((i) => i < first - 1 || i >= last);
  return {
    batch: {
      segments: [{ tokens, images, parent: -1 }],
      rows: Int32Array.from(scored),
      targets: Int32Array.from(scored, (i) => tokens[i + 1] as number),
    },
    image,
    first: scored.findIndex((i) => i >= last),
  };
}

/** Log-probs of a batch, by forests or by rows. */
export async function scoreBatch(
  model: TinkerModel,
  processor: Processor,
  batch: PackedBatch,
  isExtended: boolean,
): Promise<Float32Array> {
  if (isExtended) {
    return (await model.forwardForest(forestRequest(batch, { temperature: 1 }))).logprobs;
  }
  const rows = pathData(batch, processor.imageToken);
  const ones = spread(rows, () => 1);
  const data = rows.data.map((one, at) => ({ ...one, weights: ones[at] as Float32Array }));
  return gathered(rows, await model.forward(data));
}

/** The batch with another count of placeholders than its image has. */
export function withWrongCount(batch: PackedBatch): PackedBatch {
  const segments = batch.segments.map((segment) => ({
    ...segment,
    images: segment.images.map((image) => ({ ...image, tokenCount: image.tokenCount + 1 })),
  }));
  return { ...batch, segments };
}

export async function measureImages(
  model: TinkerModel,
  processor: Processor,
  isExtended: boolean,
): Promise<{ readonly seesImages: boolean; readonly findings: readonly Finding[] }> {
  const name = 'images';
  try {
    const { batch, first } = await imageBatch(processor, 1);
    const other = await imageBatch(processor, 2);
    const one = await scoreBatch(model, processor, batch, isExtended);
    const two = await scoreBatch(model, processor, other.batch, isExtended);
    const moved = one.map((logprob, i) => Math.abs(logprob - (two[i] as number)));
    const before = Math.max(0, ...moved.subarray(0, first));
    const after = Math.max(0, ...moved.subarray(first));
    const seesImages = after > 0 && after > 10 * before && one.every(Number.isFinite);
    const detail = `another image moved log-probs ${after.toPrecision(3)} after it, ${before} before`;
    return { seesImages, findings: [{ name, isGood: seesImages, detail }] };
  } catch (error) {
    if (!(error instanceof SaccadeError)) throw error;
    const detail = `a prompt with an image is not scored: ${error.message}`;
    return { seesImages: false, findings: [{ name, isGood: false, detail }] };
  }
}
