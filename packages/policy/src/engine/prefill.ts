/** Tokens of a context that are not computed yet, and the parts in which passes take them. */
import type { ModelImage } from '../batch.ts';
import type { LanguageModel } from '../models/language-model.ts';
import { type Placement, VISUAL } from '../models/positions.ts';

/** Rows for one pass: tokens with their positions, and the images whose placeholders they have. */
export interface PrefillPart extends Placement {
  /** [T] as the request has them. */
  readonly tokens: Int32Array;
  readonly images: readonly ModelImage[];
  /** Index of the first placeholder of each image. */
  readonly imageStarts: readonly number[];
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
    imageStarts: [],
  };
}

/** The tokens to come of one context. */
export class Prefill {
  readonly tokens: Int32Array;
  readonly images: readonly ModelImage[];
  readonly #at: Placement;
  /** Where each image begins and ends, with what stands between its tiles. */
  readonly #spans: readonly (readonly [first: number, end: number])[];
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
    model: LanguageModel,
  ) {
    this.tokens = tokens;
    this.images = images;
    this.#at = model.place(tokens, images, start);
    this.#spans = spansOf(this.#at.ids, images);
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
    return this.#spans.map(([first]) => first);
  }

  /** Position of the token at an index. */
  positionOf(index: number): number {
    return index < this.tokens.length ? (this.#at.temporal[index] as number) : this.#at.next;
  }

  /** Whether an index lies behind an image's first placeholder and before the end of its last. */
  isInImage(index: number): boolean {
    return this.#spans.some(([start, end]) => start < index && index < end);
  }

  /** Leaves out the first tokens, which are cached. */
  skip(count: number): void {
    this.#done = count;
    this.#imagesDone = this.#spans.filter(([start]) => start < count).length;
  }

  /**
   * The next tokens, `most` of them at most. An image goes whole, so that its features are used at
   * once: one that is larger goes alone.
   */
  take(most: number): PrefillPart {
    const first = this.#done;
    const end = this.#endOf(first, Math.min(this.tokens.length, first + Math.max(1, most)));
    const { ids, temporal, height, width } = this.#at;
    const firstImage = this.#imagesDone;
    while ((this.#spans[this.#imagesDone]?.[0] ?? Infinity) < end) this.#imagesDone++;
    this.#done = end;
    return {
      tokens: this.tokens.subarray(first, end),
      ids: ids.subarray(first, end),
      temporal: temporal.subarray(first, end),
      height: height.subarray(first, end),
      width: width.subarray(first, end),
      next: this.positionOf(end),
      images: this.images.slice(firstImage, this.#imagesDone),
      imageStarts: this.imageStarts
        .slice(firstImage, this.#imagesDone)
        .map((start) => start - first),
    };
  }

  /** Where a part that begins at `first` ends, so that no image is cut. */
  #endOf(first: number, wanted: number): number {
    const cut = this.#spans.find(([start, end]) => start < wanted && wanted < end);
    if (cut === undefined) return wanted;
    const [start, end] = cut;
    return start > first ? start : end;
  }
}

/** First placeholder and the end of the last of each image, whose placeholders may be in several runs. */
function spansOf(
  ids: Int32Array,
  images: readonly ModelImage[],
): readonly (readonly [first: number, end: number])[] {
  let t = -1;
  return images.map(({ tokenCount }) => {
    let first = -1;
    for (let left = tokenCount; left > 0; left--) {
      t = ids.indexOf(VISUAL, t + 1);
      if (first < 0) first = t;
    }
    return [first, t + 1];
  });
}
