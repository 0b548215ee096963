/** Images as blobs: the file as it came, or patches that are prepared already, each sent once. */
import { createHash } from 'node:crypto';
import { DataError } from '@saccade/core';
import { decodeSafetensors, encodeSafetensors } from '@saccade/nn/files';
import type { ModelImage } from '@saccade/policy';
import { BINARY } from './bodies.ts';
import { preparedImage } from './schemas.ts';

/** The bytes of an image under their hash. */
export interface ImageBlob {
  readonly sha256: string;
  readonly contentType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const PNG = [0x89, 0x50, 0x4e, 0x47];
const JPEG = [0xff, 0xd8, 0xff];
const PATCHES = 'patches';

const blobs = new WeakMap<ModelImage, ImageBlob>();

/**
 * The blob of an image; made once and kept as long as the image. The file where it is known, so that
 * a photo travels in its own bytes, and else the patches: two hundred times as many.
 */
export function blobOf(image: ModelImage): ImageBlob {
  const known = blobs.get(image);
  if (known !== undefined) return known;
  const made = encodedBlob(image) ?? preparedBlob(image);
  blobs.set(image, made);
  return made;
}

/** The file of an image, where it is a PNG or a JPEG that is known. */
export function encodedBlob({ source, video }: ModelImage): ImageBlob | undefined {
  const format = source && video === undefined ? formatOf(source) : undefined;
  if (source === undefined || format === undefined) return undefined;
  // The same bytes, not a copy: a run holds the images of many steps.
  const { buffer, byteOffset, byteLength } = source;
  const isPlain = buffer instanceof ArrayBuffer;
  const bytes = isPlain ? new Uint8Array(buffer, byteOffset, byteLength) : new Uint8Array(source);
  return { sha256: hashOf(bytes), contentType: `image/${format}`, bytes };
}

function formatOf(bytes: Uint8Array): 'png' | 'jpeg' | undefined {
  if (PNG.every((byte, at) => bytes[at] === byte)) return 'png';
  return JPEG.every((byte, at) => bytes[at] === byte) ? 'jpeg' : undefined;
}

export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function preparedBlob(image: ModelImage): ImageBlob {
  const { patches, source: _, ...fields } = image;
  const { grids = 1, gridHeight, gridWidth } = image;
  const rows = grids * gridHeight * gridWidth;
  const shape = [rows, rows === 0 ? 0 : patches.length / rows];
  const bytes = encodeSafetensors({
    arrays: new Map([[PATCHES, { dtype: 'f32', shape, data: patches }]]),
    metadata: { body: JSON.stringify(fields) },
  });
  return { sha256: hashOf(bytes), contentType: BINARY, bytes };
}

/** The image of a prepared blob. @throws DataError naming what does not fit */
export function readPreparedImage(bytes: Uint8Array): ModelImage {
  const what = 'The prepared image';
  const { arrays, metadata } = decodeSafetensors(what, bytes);
  const patches = arrays.get(PATCHES)?.data;
  if (!(patches instanceof Float32Array)) {
    throw new DataError(`${what} needs a tensor "${PATCHES}" of floats.`);
  }
  let fields: unknown;
  try {
    fields = JSON.parse(metadata.body ?? '');
  } catch (cause) {
    throw new DataError(`${what} needs its fields as JSON in the metadata "body".`, { cause });
  }
  const parsed = preparedImage.safeParse(fields);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new DataError(`${what}: "${issue?.path.join('.')}" does not fit: ${issue?.message}.`);
  }
  const { grids = 1, gridHeight, gridWidth } = parsed.data;
  const rows = grids * gridHeight * gridWidth;
  if (rows === 0 || patches.length % rows !== 0) {
    throw new DataError(
      `${what} has ${patches.length} values for ${rows} patches; each patch has the same number.`,
    );
  }
  return { ...(parsed.data as Omit<ModelImage, 'patches'>), patches };
}
