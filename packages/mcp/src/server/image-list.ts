/** The images of one client, in order: later calls name earlier ones by their index. */
import type { CapturedImage } from '@saccade/sandbox';
import type { ToolImage } from '@saccade/tools';

/** Limits on the image list of one session. */
export interface ImageListLimits {
  /** Default 64. */
  readonly images?: number;
  /** Bytes of all of them as PNG. Default 128 MiB. */
  readonly bytes?: number;
}

export class ImageList {
  readonly #most: Required<ImageListLimits>;
  readonly #images: ToolImage[] = [];
  #bytes = 0;

  constructor({ images = 64, bytes = 128 * 2 ** 20 }: ImageListLimits = {}) {
    this.#most = { images, bytes };
  }

  get images(): readonly ToolImage[] {
    return this.#images;
  }

  /** @returns the image as it is called from now on; undefined if there is no room for it */
  add({ png, width, height, origin }: CapturedImage): ToolImage | undefined {
    const isFull = this.#images.length >= this.#most.images;
    if (isFull || this.#bytes + png.byteLength > this.#most.bytes) return undefined;
    const image: ToolImage = {
      ...{ name: `image_${this.#images.length}`, png, width, height },
      ...(origin !== undefined && { origin }),
    };
    this.#images.push(image);
    this.#bytes += png.byteLength;
    return image;
  }
}
