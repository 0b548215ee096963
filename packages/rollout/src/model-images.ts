/** Images prepared for the vision tower, each once: a group's prompt image, and again to train. */
import { DataError } from '@saccade/core';
import type { ModelImage, Processor } from '@saccade/policy';
import type { TrajectoryImage } from '@saccade/trajectory';

/**
 * Prepares images by their bytes. The same array gives the same prepared image for as long as
 * somebody holds the array; an image read back from disk is prepared anew.
 */
export class ModelImages {
  readonly #processor: Processor;
  readonly #prepared = new WeakMap<Uint8Array, Promise<ModelImage>>();

  constructor(processor: Processor) {
    this.#processor = processor;
  }

  /** @param png encoded bytes; they must not change afterwards */
  prepare(png: Uint8Array): Promise<ModelImage> {
    let prepared = this.#prepared.get(png);
    if (prepared === undefined) {
      prepared = this.#processor.prepareImage(png);
      this.#prepared.set(png, prepared);
    }
    return prepared;
  }

  /** @throws DataError if it no longer takes the tokens its trajectory has for it */
  async prepareRecorded(image: TrajectoryImage): Promise<ModelImage> {
    const prepared = await this.prepare(image.png);
    if (prepared.tokenCount !== image.tokenCount) {
      throw new DataError(
        `Image ${image.name} has ${image.tokenCount} tokens in its trajectory, but this policy ` +
          `gives it ${prepared.tokenCount}. Use the image settings it was rolled out with.`,
      );
    }
    return prepared;
  }
}
