/** Reads prompts in the form of the engines' APIs: token ids or text, and images as data URLs. */
import { createHash } from 'node:crypto';
import { messageOf } from '@saccade/core';
import type { ModelImage } from '../batch.ts';
import type { Processor } from '../policy.ts';
import { imageSize } from '../processor/image-size.ts';
import { refused } from './refusal.ts';

/** Most cached prepared images; a conversation sends its images again with every turn. */
const MOST_IMAGES = 256;
const MOST_KEPT_BYTES = 512 * 2 ** 20;
/** Most pixels of the images of one request, unless a single one may have more. */
const MOST_TOGETHER = 2 ** 27;

export class PromptReader {
  readonly #processor: Processor;
  /** By digest of the encoded bytes, the least recently used first. */
  readonly #images = new Map<string, Kept>();
  #keptBytes = 0;
  /** Images are decoded one after another, since each may need the memory of the largest. */
  #last: Promise<unknown> = Promise.resolve();

  readonly #maxPixels: number;

  /** @param maxPixels  images with more are refused before decoding */
  constructor(processor: Processor, maxPixels: number) {
    this.#processor = processor;
    this.#maxPixels = maxPixels;
  }

  /** Tokens of plain text. @throws Refusal if it is empty */
  textTokens(text: string): Int32Array {
    const { tokens } = this.#processor.encodeContent([{ kind: 'text', text }]);
    if (tokens.length === 0) throw refused('The prompt is empty.');
    return tokens;
  }

  /**
   * Expands token ids with one placeholder per image to the prompt that the model takes.
   *
   * @throws Refusal if placeholders and images do not match, or an image cannot be read
   */
  async withImages(
    ids: readonly number[],
    dataUrls: readonly string[],
  ): Promise<{ readonly tokens: Int32Array; readonly images: readonly ModelImage[] }> {
    const { imageToken } = this.#processor;
    if (dataUrls.length === 0) return { tokens: Int32Array.from(ids), images: [] };
    if (imageToken === undefined) throw refused('This model takes no images.');
    const placeholders = ids.filter((id) => id === imageToken).length;
    if (placeholders !== dataUrls.length) {
      throw refused(
        `The prompt has ${placeholders} placeholders (token ${imageToken}) for ` +
          `${dataUrls.length} images. Send one for each.`,
      );
    }
    const images = await this.images(dataUrls);
    let next = 0;
    const tokens = ids.flatMap((id) =>
      id === imageToken
        ? new Array<number>(images[next++]?.tokenCount ?? 0).fill(imageToken)
        : [id],
    );
    return { tokens: Int32Array.from(tokens), images };
  }

  /** Prepares images. @throws Refusal if one cannot be read, or they are too large */
  async images(dataUrls: readonly string[]): Promise<readonly ModelImage[]> {
    if (dataUrls.length > 0 && this.#processor.imageToken === undefined) {
      throw refused('This model takes no images.');
    }
    const encoded = dataUrls.map(bytesOf);
    const pixels = encoded.reduce((sum, bytes) => sum + this.#pixelsOf(bytes), 0);
    const most = Math.max(MOST_TOGETHER, this.#maxPixels);
    if (pixels > most) {
      throw refused(`The images have ${pixels} pixels together, at most ${most} are accepted.`);
    }
    return await Promise.all(encoded.map((bytes) => this.#prepare(bytes)));
  }

  /** Pixels by the header. @throws Refusal if it is not an image, or too large */
  #pixelsOf(encoded: Uint8Array): number {
    const size = imageSize(encoded);
    if (size === undefined) {
      throw refused('An image could not be decoded. Send PNG, JPEG, WebP or GIF.');
    }
    const { width, height } = size;
    if (width * height <= this.#maxPixels) return width * height;
    throw refused(
      `An image of ${width}×${height} has more than ${this.#maxPixels} pixels. Make it smaller.`,
    );
  }

  async #prepare(encoded: Uint8Array): Promise<ModelImage> {
    const key = createHash('sha256').update(encoded).digest('base64');
    const known = this.#images.get(key);
    if (known !== undefined) {
      this.#images.delete(key);
      this.#images.set(key, known);
      return await known.image;
    }
    const image = this.#last.then(() => this.#decode(encoded));
    this.#last = image.catch(() => {});
    const kept: Kept = { image, bytes: 0 };
    this.#images.set(key, kept);
    try {
      kept.bytes = (await image).patches.byteLength;
      this.#keptBytes += this.#images.get(key) === kept ? kept.bytes : 0;
    } catch (error) {
      // Images that cannot be read are not cached.
      if (this.#images.get(key) === kept) this.#images.delete(key);
      throw error;
    }
    this.#makeRoom();
    return await image;
  }

  #makeRoom(): void {
    for (const [key, { bytes }] of this.#images) {
      if (this.#images.size <= MOST_IMAGES && this.#keptBytes <= MOST_KEPT_BYTES) return;
      this.#images.delete(key);
      this.#keptBytes -= bytes;
    }
  }

  async #decode(encoded: Uint8Array): Promise<ModelImage> {
    try {
      return await this.#processor.prepareImage(encoded);
    } catch (error) {
      throw refused(messageOf(error));
    }
  }
}

interface Kept {
  readonly image: Promise<ModelImage>;
  /** Bytes of its patches; 0 while it is being prepared. */
  bytes: number;
}

/** The bytes of a base64 data URL. @throws Refusal if it is not one */
function bytesOf(url: string): Uint8Array {
  const comma = url.indexOf(',');
  const head = url.slice(0, Math.min(Math.max(comma, 0), 64));
  const base64 = url.slice(comma + 1);
  if (/^data:image\/[a-z+.-]+;base64$/.test(head)) {
    const encoded = new Uint8Array(Buffer.from(base64, 'base64'));
    // Node skips characters that are not base64 instead of refusing them.
    let end = base64.length;
    while (end > 0 && base64.length - end < 2 && base64[end - 1] === '=') end--;
    if (base64 !== '' && encoded.length === Math.floor((end * 3) / 4)) return encoded;
  }
  throw refused('An image must be a data URL: data:image/png;base64,…');
}
