/** Tokens of a context that are not computed yet, and the parts in which passes take them. */
import type { ModelImage } from '../batch.ts';
import type { ModelConfig } from '../models/config.ts';
import { type Placement, placeTokens, VISUAL } from '../models/positions.ts';

/** Rows for one pass: tokens with their positions, and the images whose placeholders they have. */
export interface PrefillPart extends Placement {
  /** [T] as the request has them. */
  readonly tokens: Int32Array;
  readonly images: readonly ModelImage[];
}

/** A sampled token: a row of text. */
export function tokenPart(token: number, position: number): PrefillPart {
  const [one, at] = [Int32Array.of(token), Int32Array.of(position)];
  return {
    tokens: one,
    ids: one,
    temporal: at,
    height: at,
    width: at,
    next: position + 1,
    images: [],
  };
}

/** The tokens to come of one context. */
export class Prefill {
  readonly tokens: Int32Array;
  readonly images: readonly ModelImage[];
  readonly #at: Placement;
  #done = 0;
  #imagesDone = 0;

  /**
   * @param start position of the first token
   * @throws DataError if an image has no placeholders
   */
  constructor(
    tokens: Int32Array,
    images: readonly ModelImage[],
    start: number,
    config: ModelConfig,
  ) {
    this.tokens = tokens;
    this.images = images;
    this.#at = placeTokens(tokens, images, start, config, config.vision.mergeSize);
  }

  /** Tokens that are left. */
  get length(): number {
    return this.tokens.length - this.#done;
  }

  /** What is left of it. */
  get left(): { readonly tokens: Int32Array; readonly images: readonly ModelImage[] } {
    return {
      tokens: this.tokens.subarray(this.#done),
      images: this.images.slice(this.#imagesDone),
    };
  }

  /** Position of the token after its last. */
  get end(): number {
    return this.#at.next;
  }

  /** Index of the first placeholder of each image. */
  get imageStarts(): readonly number[] {
    const { ids } = this.#at;
    const starts: number[] = [];
    for (let t = 0; t < ids.length && starts.length < this.images.length; t++) {
      if (ids[t] !== VISUAL) continue;
      starts.push(t);
      t += (this.images[starts.length - 1] as ModelImage).tokenCount - 1;
    }
    return starts;
  }

  /** Position of the token at an index. */
  positionOf(index: number): number {
    return index < this.tokens.length ? (this.#at.temporal[index] as number) : this.#at.next;
  }

  /**
   * The next tokens, `most` of them at most. An image goes whole, so that its features are used at
   * once: one that is larger goes alone.
   */
  take(most: number): PrefillPart {
    const first = this.#done;
    const end = this.#endOf(first, Math.min(this.tokens.length, first + Math.max(1, most)));
    const { ids, temporal, height, width } = this.#at;
    const visual = ids.subarray(first, end).reduce((sum, id) => sum + (id === VISUAL ? 1 : 0), 0);
    const firstImage = this.#imagesDone;
    for (let left = visual; left > 0; ) {
      left -= (this.images[this.#imagesDone++] as ModelImage).tokenCount;
    }
    this.#done = end;
    return {
      tokens: this.tokens.subarray(first, end),
      ids: ids.subarray(first, end),
      temporal: temporal.subarray(first, end),
      height: height.subarray(first, end),
      width: width.subarray(first, end),
      next: this.positionOf(end),
      images: this.images.slice(firstImage, this.#imagesDone),
    };
  }

  /** Where a part that begins at `first` ends, so that no image is cut. */
  #endOf(first: number, wanted: number): number {
    const { ids } = this.#at;
    const isInside = (at: number) => ids[at - 1] === VISUAL && ids[at] === VISUAL;
    let end = wanted;
    while (end > first && isInside(end)) end--;
    if (end > first) return end;
    end = wanted;
    while (isInside(end)) end++;
    return end;
  }
}
