/** Images that clients sent, under their hashes: bounded, those used longest ago leave first. */
import type { ModelImage, Processor } from '@saccade/policy';
import { BINARY } from '../wire/bodies.ts';
import { hashOf, readPreparedImage } from '../wire/image-blob.ts';
import { TinkerError, wrongField } from '../wire/tinker-error.ts';

interface Blob {
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/** An image of a request, and the placeholders that its client counted. */
export interface WantedImage {
  readonly sha256: string;
  readonly expectedTokens?: number;
}

export class BlobStore {
  readonly #blobs = new Map<string, Blob>();
  readonly #maxBytes: number;
  #bytes = 0;
  /** Prepared images; they are large, and so few are kept. */
  readonly #prepared = new Map<string, Promise<ModelImage>>();
  readonly #maxPrepared: number;

  constructor(maxBytes: number, maxPrepared = 256) {
    this.#maxBytes = maxBytes;
    this.#maxPrepared = maxPrepared;
  }

  get size(): { readonly blobs: number; readonly bytes: number } {
    return { blobs: this.#blobs.size, bytes: this.#bytes };
  }

  /** @throws TinkerError if the bytes do not have this hash, or the type is not an image's */
  put(sha256: string, contentType: string, bytes: Uint8Array): void {
    if (!['image/png', 'image/jpeg', BINARY].includes(contentType)) {
      throw wrongField('content-type', `image/png, image/jpeg or ${BINARY}, not "${contentType}".`);
    }
    const actual = hashOf(bytes);
    if (actual !== sha256) {
      throw wrongField('sha256', `the bytes have ${actual}, not ${sha256}. Send them again.`);
    }
    if (bytes.length > this.#maxBytes) {
      throw new TinkerError('user', `The image has more than ${this.#maxBytes} bytes.`, {
        status: 413,
      });
    }
    if (this.#blobs.has(sha256)) return;
    this.#blobs.set(sha256, { contentType, bytes });
    this.#bytes += bytes.length;
    for (const [oldest, { bytes: own }] of this.#blobs) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#blobs.delete(oldest);
      this.#bytes -= own.length;
    }
  }

  missing(hashes: readonly string[]): readonly string[] {
    return [...new Set(hashes)].filter((hash) => !this.#blobs.has(hash));
  }

  /**
   * The images of a request, prepared. Their bytes are held from here on, whatever leaves.
   *
   * @throws TinkerError `missing-blobs` naming those to send; or if a count of placeholders differs
   */
  async images(
    processor: Processor,
    wanted: readonly WantedImage[],
  ): Promise<readonly ModelImage[]> {
    const missing = this.missing(wanted.map(({ sha256 }) => sha256));
    if (missing.length > 0) {
      throw new TinkerError('user', `${missing.length} images are not here. Send them first.`, {
        code: 'missing-blobs',
        status: 409,
        fields: { missing },
      });
    }
    const pending = wanted.map(({ sha256 }) => this.#image(processor, sha256));
    const images = await Promise.all(pending);
    images.forEach((image, at) => {
      const expected = wanted[at]?.expectedTokens;
      if (expected !== undefined) expectTokens(image, expected);
    });
    return images;
  }

  #image(processor: Processor, sha256: string): Promise<ModelImage> {
    const blob = this.#blobs.get(sha256) as Blob;
    // It was used last.
    this.#blobs.delete(sha256);
    this.#blobs.set(sha256, blob);
    const known = this.#prepared.get(sha256);
    this.#prepared.delete(sha256);
    const image = known ?? prepare(processor, blob);
    this.#prepared.set(sha256, image);
    image.catch(() => this.#prepared.delete(sha256));
    for (const oldest of this.#prepared.keys()) {
      if (this.#prepared.size <= this.#maxPrepared) break;
      this.#prepared.delete(oldest);
    }
    return image;
  }
}

async function prepare(processor: Processor, { contentType, bytes }: Blob): Promise<ModelImage> {
  if (contentType === BINARY) return readPreparedImage(bytes);
  return await processor.prepareImage(bytes);
}

/** @throws TinkerError with both counts */
export function expectTokens(image: ModelImage, expected: number): void {
  if (image.tokenCount === expected) return;
  throw wrongField(
    'expected_tokens',
    `the image takes ${image.tokenCount} placeholders here, and the request counts ${expected}. ` +
      'Use the processor of the same checkpoint.',
  );
}
