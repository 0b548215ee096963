/**
 * A packed forest as Tinker's data: one row of tokens for each path from a root to a leaf, for servers
 * that know no forests. Prompts and images are then sent and computed once for each path.
 */
import type { ModelImage, PackedBatch, PackedSegment } from '@saccade/policy';
import type { DatumInput } from '../client/tinker-model.ts';
import { blobOf, encodedBlob } from '../wire/image-blob.ts';
import { TinkerError } from '../wire/tinker-error.ts';

/** Where the n-th target of a batch is in the data. */
interface Slot {
  readonly datum: number;
  readonly position: number;
}

/** A batch as data, and where each of its targets went. */
export interface PathData {
  /** Without what a loss reads. */
  readonly data: readonly Pick<DatumInput, 'chunks' | 'targets'>[];
  /** [N] */
  readonly slots: readonly Slot[];
}

interface Path {
  readonly tokens: Int32Array;
  readonly images: readonly ModelImage[];
  /** Index in the path of each segment's first token. */
  readonly starts: ReadonlyMap<number, number>;
}

interface Row {
  readonly path: Path;
  /** Target by position. */
  readonly taken: Map<number, number>;
}

/**
 * The data of a batch. A position has one target, so that a row that predicts several goes into
 * several data.
 *
 * @param imageToken the placeholder of images
 * @throws TinkerError for images that have no file, or whose placeholders do not lie together
 */
export function pathData(batch: PackedBatch, imageToken: number | undefined): PathData {
  const { segments, rows: packedRows, targets } = batch;
  const starts = packedStarts(segments);
  const paths = leavesOf(segments).map((leaf) => pathTo(segments, leaf));
  const data: Row[] = paths.map((path) => ({ path, taken: new Map() }));
  const slots: Slot[] = [];
  for (let n = 0; n < targets.length; n++) {
    const row = packedRows[n] as number;
    const target = targets[n] as number;
    const segment = segmentOf(starts, row);
    const offset = row - (starts[segment] as number);
    const at = (one: Row): number => (one.path.starts.get(segment) as number) + offset;
    const fits = data
      .map((one, index) => ({ one, index }))
      .filter(({ one }) => one.path.starts.has(segment) && !one.taken.has(at(one)));
    // The path that goes on with the target, so that most paths have all of their own targets.
    const best =
      fits.find(({ one }) => one.path.tokens[at(one) + 1] === target) ?? fits[0] ?? undefined;
    let index = best?.index;
    if (index === undefined) {
      const path = paths.find((one) => one.starts.has(segment)) as Path;
      index = data.push({ path, taken: new Map() }) - 1;
    }
    const chosen = data[index] as Row;
    const position = at(chosen);
    chosen.taken.set(position, target);
    slots.push({ datum: index, position });
  }
  // Rows that nothing is scored on are not sent.
  const sent = data.flatMap(({ taken }, index) => (taken.size > 0 ? [index] : []));
  return {
    data: sent.map((index) => datumOf(data[index] as Row, imageToken)),
    slots: slots.map(({ datum, position }) => ({ datum: sent.indexOf(datum), position })),
  };
}

/** Values [N] of targets spread over their data; 0 elsewhere. */
export function spread(
  { data, slots }: PathData,
  values: (n: number) => number,
): readonly Float32Array[] {
  const all = data.map(({ targets }) => new Float32Array(targets.length));
  slots.forEach(({ datum, position }, n) => {
    (all[datum] as Float32Array)[position] = values(n);
  });
  return all;
}

/** Values of data gathered for the batch's targets: [N]. */
export function gathered({ slots }: PathData, values: readonly Float32Array[]): Float32Array {
  return Float32Array.from(slots, ({ datum, position }) => values[datum]?.[position] as number);
}

function packedStarts(segments: readonly PackedSegment[]): readonly number[] {
  let start = 0;
  return segments.map(({ tokens }) => {
    start += tokens.length;
    return start - tokens.length;
  });
}

function segmentOf(starts: readonly number[], row: number): number {
  let segment = 0;
  while (segment + 1 < starts.length && (starts[segment + 1] as number) <= row) segment++;
  return segment;
}

function leavesOf(segments: readonly PackedSegment[]): readonly number[] {
  const parents = new Set(segments.map(({ parent }) => parent));
  return segments.flatMap((_, index) => (parents.has(index) ? [] : [index]));
}

function pathTo(segments: readonly PackedSegment[], leaf: number): Path {
  const chain: number[] = [];
  for (let at = leaf; at >= 0; at = segments[at]?.parent ?? -1) chain.unshift(at);
  const starts = new Map<number, number>();
  const tokens: number[] = [];
  for (const index of chain) {
    starts.set(index, tokens.length);
    for (const token of segments[index]?.tokens ?? []) tokens.push(token);
  }
  const images = chain.flatMap((index) => segments[index]?.images ?? []);
  return { tokens: Int32Array.from(tokens), images, starts };
}

/** Only as far as something is scored; a server wants text at the end. */
function datumOf({ path, taken }: Row, imageToken: number | undefined): PathData['data'][number] {
  const { tokens, images } = path;
  let length = Math.max(...taken.keys()) + 1;
  while (images.length > 0 && length < tokens.length && tokens[length - 1] === imageToken) length++;
  const own = tokens.subarray(0, length);
  const targets = Int32Array.from({ length }, (_, position) =>
    Math.max(0, taken.get(position) ?? 0),
  );
  return { chunks: chunksOf(own, images, imageToken), targets };
}

/**
 * Tokens and images as chunks of the wire. Runs of placeholders become their images, in order; a run
 * of another length is text: a model may write such tokens itself.
 *
 * @param byHash whether images go as hashes of blobs
 * @throws TinkerError as `pathData`
 */
export function chunksOf(
  tokens: Int32Array,
  images: readonly ModelImage[],
  imageToken: number | undefined,
  byHash = false,
): readonly object[] {
  const chunks: object[] = [];
  let next = 0;
  let from = 0;
  const text = (end: number): void => {
    if (end > from) chunks.push({ type: 'encoded_text', tokens: [...tokens.subarray(from, end)] });
  };
  for (let at = 0; at < tokens.length; at++) {
    const image = images[next];
    if (image === undefined || tokens[at] !== imageToken) continue;
    let end = at;
    while (end < tokens.length && tokens[end] === imageToken) end++;
    if (end - at === image.tokenCount) {
      text(at);
      chunks.push(byHash ? imageReference(image) : imageChunk(image));
      from = end;
      next++;
    }
    at = end - 1;
  }
  text(tokens.length);
  // A row may end before its last images.
  const rest = images.length - next;
  if (rest === 0 || !tokens.includes(imageToken ?? -1, from)) return chunks;
  throw new TinkerError(
    'user',
    `${rest} images have placeholders that do not lie together, as tiles do. Only servers with the ` +
      'extension saccade/1 take them.',
    { code: 'unfit', field: 'images' },
  );
}

function imageReference(image: ModelImage): object {
  const { sha256 } = blobOf(image);
  return { type: 'image_ref', sha256, expected_tokens: image.tokenCount };
}

/** @throws TinkerError if the image has no file: plain servers take PNG and JPEG only */
function imageChunk(image: ModelImage): object {
  const blob = encodedBlob(image);
  if (blob !== undefined) {
    return {
      type: 'image',
      data: Buffer.from(blob.bytes).toString('base64'),
      format: blob.contentType === 'image/png' ? 'png' : 'jpeg',
      expected_tokens: image.tokenCount,
    };
  }
  throw new TinkerError(
    'user',
    'An image is known by its patches only, and this server takes PNG and JPEG. Make images by the ' +
      "processor's prepareImage, or use a server with the extension saccade/1.",
    { code: 'unfit', field: 'images' },
  );
}
