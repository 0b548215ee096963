/** A context in the cache: its tokens, slots and users, and the position of its next token. */
import type { ModelImage } from '../batch.ts';
import { imageKey } from './image-key.ts';
import { PAGE, SlotList } from './kv-cache.ts';
import type { Prefill } from './prefill.ts';

/** A stretch of context whose keys and values are (or are being) cached. */
export class CachedContext {
  /** Shared prefix this context continues, if any. */
  readonly prefix: CachedContext | undefined;
  readonly slots: SlotList = new SlotList();
  /** Tokens of this stretch, prefix excluded. */
  readonly tokens: number[] = [];
  /** Images whose placeholders lie in the cached tokens, prefix included. */
  readonly images: ModelImage[];
  /** Index among `tokens` of each own image's first placeholder. */
  readonly imageStarts: number[] = [];
  /** What is to come before a token can be sampled from it. */
  prefill: Prefill | undefined;
  /** M-RoPE position of the next token. */
  nextPosition: number;
  /** Running requests and contexts that read its slots. */
  users = 0;
  /** True once it accepts no new users; its slots are freed with the last user. */
  isReleased = false;

  constructor(prefix?: CachedContext) {
    this.prefix = prefix;
    this.images = [...(prefix?.images ?? []), ...(prefix?.prefill?.left.images ?? [])];
    this.nextPosition = prefix?.prefill?.end ?? prefix?.nextPosition ?? 0;
    if (prefix !== undefined) prefix.users++;
  }

  /** Tokens cached or to come, prefix included. */
  get length(): number {
    return (this.prefix?.length ?? 0) + this.tokens.length + (this.prefill?.length ?? 0);
  }

  /** Pages that what is to come needs, prefix included. */
  get missingPages(): number {
    const own = this.slots.pagesFor(this.prefill?.length ?? 0);
    return own + (this.prefix?.missingPages ?? 0);
  }

  /** True if the tokens and images, cached or to come, are a prefix of this context. */
  begins(context: Int32Array, images: readonly ModelImage[]): boolean {
    const { tokens: more, images: moreImages } = this.prefill?.left ?? NOTHING;
    const [ownTokens, ownImages] = [
      [...this.tokens, ...more],
      [...this.images, ...moreImages],
    ];
    if (this.length > context.length || ownImages.length > images.length) return false;
    const start = this.prefix?.length ?? 0;
    return (
      ownTokens.every((token, i) => token === context[start + i]) &&
      ownImages.every((image, i) => isSameImage(image, images[i] as ModelImage)) &&
      (this.prefix?.begins(context, images) ?? true)
    );
  }

  /** What its page `index` holds, to find the same elsewhere. */
  contentOf(index: number): string {
    const tokens = this.tokens.slice(index * PAGE, (index + 1) * PAGE);
    return pageContent(tokens, index * PAGE, this.images, this.imageStarts);
  }
}

const NOTHING = { tokens: new Int32Array(), images: [] };

/**
 * Tokens of a page that begins at `first`, and the images that have placeholders in it, as text.
 *
 * @param starts index of each image's first placeholder
 */
export function pageContent(
  tokens: ArrayLike<number>,
  first: number,
  images: readonly ModelImage[],
  starts: readonly number[],
): string {
  const shown = starts.flatMap((start, i) => {
    const image = images[i] as ModelImage;
    const isIn = start < first + tokens.length && start + image.tokenCount > first;
    return isIn ? [`${start - first} ${imageKey(image)}`] : [];
  });
  return [Array.from(tokens).join(','), ...shown].join(' ');
}

/** What the positions of an image's placeholders depend on. */
const SHAPE = ['gridHeight', 'gridWidth', 'grids', 'tokenCount'] as const;

function isSameImage(a: ModelImage, b: ModelImage): boolean {
  if (a === b) return true;
  if (!SHAPE.every((field) => a[field] === b[field])) return false;
  if (a.video?.secondsPerGrid !== b.video?.secondsPerGrid) return false;
  return a.patches.every((value, i) => value === b.patches[i]);
}
