/** Data and forests of requests as batches of a policy, checked before anything runs. */
import type { ModelImage, PackedBatch, PackedSegment, TrainedPolicy } from '@saccade/policy';
import type { Chunk, Datum, Forest } from '../wire/schemas.ts';
import { wrongField } from '../wire/tinker-error.ts';
import { type BlobStore, expectTokens, type WantedImage } from './blob-store.ts';

type Blobs = Pick<BlobStore, 'images'>;
type ServedProcessor = TrainedPolicy['processor'];

/** The limits of a model that requests must keep. */
export interface ModelBounds {
  readonly processor: ServedProcessor;
  readonly vocabSize?: number | undefined;
  /** Most tokens of one request. */
  readonly maxTokens: number;
}

/** The batch of a forest, with its images. @throws TinkerError naming the field */
export async function batchOfForest(
  forest: Forest,
  blobs: Blobs,
  bounds: ModelBounds,
): Promise<PackedBatch> {
  const { segments, tokens, rows, targets } = forest;
  const field = 'forward_input.forest';
  const total = segments.reduce((sum, { length }) => sum + length, 0);
  if (total !== tokens.length) {
    throw wrongField(`${field}.tokens`, `${tokens.length} tokens for segments of ${total}.`);
  }
  if (rows.length !== targets.length) {
    throw wrongField(`${field}.targets`, `${targets.length} targets for ${rows.length} rows.`);
  }
  expectSize(total, bounds);
  expectTokensIn(`${field}.tokens`, tokens, 0, bounds.vocabSize);
  expectTokensIn(`${field}.targets`, targets, -1, bounds.vocabSize);
  expectTokensIn(`${field}.rows`, rows, 0, total);
  segments.forEach(({ parent }, at) => {
    if (parent >= at) {
      throw wrongField(`${field}.segments.${at}.parent`, `${parent} is no earlier segment.`);
    }
  });
  const wanted = segments.flatMap(({ images }) => images.map(wantedOf));
  const images = [...(await blobs.images(bounds.processor, wanted))];
  let start = 0;
  const packed = segments.map((segment): PackedSegment => {
    const own = images.splice(0, segment.images.length);
    const part = tokens.subarray(start, start + segment.length);
    start += segment.length;
    return { tokens: part, parent: segment.parent, images: own };
  });
  return { segments: packed, rows, targets };
}

/** One datum's place in a batch: its positions, and how many there are. */
export interface DataBatch {
  readonly batch: PackedBatch;
  /** Positions of each datum, which follow one another in the batch's targets. */
  readonly lengths: readonly number[];
}

/** The batch of data: one root each, every position scored. @throws TinkerError naming the field */
export async function batchOfData(
  data: readonly Datum[],
  blobs: Blobs,
  bounds: ModelBounds,
): Promise<DataBatch> {
  const segments: PackedSegment[] = [];
  const rows: number[] = [];
  const targets: number[] = [];
  let start = 0;
  for (const [at, { model_input, loss_fn_inputs }] of data.entries()) {
    const field = `data.${at}`;
    const input = await inputOf(model_input.chunks, blobs, bounds, `${field}.model_input`);
    const { target_tokens: own, ...values } = loss_fn_inputs;
    const { length } = input.tokens;
    if (own.length !== length) {
      throw wrongField(
        `${field}.loss_fn_inputs.target_tokens`,
        `${own.length} targets for ${length} positions; positions of images count too.`,
      );
    }
    expectTokensIn(`${field}.loss_fn_inputs.target_tokens`, own, -1, bounds.vocabSize);
    for (const name of ['weights', 'logprobs', 'advantages'] as const) {
      const count = values[name]?.length ?? length;
      if (count === length) continue;
      throw wrongField(
        `${field}.loss_fn_inputs.${name}`,
        `${count} values for ${length} positions.`,
      );
    }
    segments.push({ ...input, parent: -1 });
    own.forEach((target, i) => {
      rows.push(start + i);
      targets.push(target);
    });
    start += length;
  }
  expectSize(start, bounds);
  return {
    batch: { segments, rows: Int32Array.from(rows), targets: Int32Array.from(targets) },
    lengths: segments.map(({ tokens }) => tokens.length),
  };
}

/**
 * Tokens and images of chunks.
 *
 * @param placed images whose placeholders the text has already
 * @throws TinkerError naming the field
 */
export async function inputOf(
  chunks: readonly Chunk[],
  blobs: Blobs,
  { processor, vocabSize }: ModelBounds,
  field: string,
  placed?: Parameters<typeof wantedOf>[0][],
): Promise<{ readonly tokens: Int32Array; readonly images: readonly ModelImage[] }> {
  const tokens: number[] = [];
  const images: ModelImage[] = [];
  for (const [at, chunk] of chunks.entries()) {
    if (isText(chunk)) {
      expectTokensIn(`${field}.chunks.${at}.tokens`, chunk.tokens, 0, vocabSize);
      for (const token of chunk.tokens) tokens.push(token);
      continue;
    }
    const { imageToken } = processor;
    if (imageToken === undefined) throw wrongField(field, 'the model takes no images.');
    const image = await imageOf(chunk, blobs, processor, `${field}.chunks.${at}`);
    images.push(image);
    for (let i = 0; i < image.tokenCount; i++) tokens.push(imageToken);
  }
  if (tokens.length === 0) throw wrongField(field, 'it is empty.');
  if (placed !== undefined) images.push(...(await blobs.images(processor, placed.map(wantedOf))));
  return { tokens: Int32Array.from(tokens), images };
}

type TextChunk = Extract<Chunk, { tokens: unknown }>;

function isText(chunk: Chunk): chunk is TextChunk {
  return Array.isArray((chunk as { tokens?: unknown }).tokens);
}

async function imageOf(
  chunk: Exclude<Chunk, TextChunk>,
  blobs: Blobs,
  processor: ServedProcessor,
  field: string,
): Promise<ModelImage> {
  const { expected_tokens } = chunk as { expected_tokens?: number | null };
  if (chunk.type === 'image_ref') {
    const wanted = { sha256: String(chunk.sha256), ...expecting(expected_tokens) };
    const [image] = await blobs.images(processor, [wanted]);
    return image as ModelImage;
  }
  const bytes = new Uint8Array(Buffer.from(String((chunk as { data?: unknown }).data), 'base64'));
  if (bytes.length === 0) throw wrongField(`${field}.data`, 'it is empty, or no base64.');
  const image = await processor.prepareImage(bytes);
  if (expected_tokens != null) expectTokens(image, expected_tokens);
  return image;
}

function wantedOf(image: { sha256: string; expected_tokens?: number | null | undefined }) {
  return { sha256: image.sha256, ...expecting(image.expected_tokens) } satisfies WantedImage;
}

function expecting(count: number | null | undefined): Pick<WantedImage, 'expectedTokens'> {
  return count == null ? {} : { expectedTokens: count };
}

function expectSize(total: number, { maxTokens }: ModelBounds): void {
  if (total <= maxTokens) return;
  throw wrongField('tokens', `${total} tokens; at most ${maxTokens} in a request. Send fewer.`);
}

function expectTokensIn(
  field: string,
  values: ArrayLike<number>,
  low: number,
  high: number | undefined,
): void {
  for (let at = 0; at < values.length; at++) {
    const value = values[at] as number;
    if (value >= low && (high === undefined || value < high)) continue;
    throw wrongField(field, `${value} at ${at} is out of range: ${low} to ${(high ?? 0) - 1}.`);
  }
}
