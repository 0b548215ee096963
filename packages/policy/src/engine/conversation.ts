/** A context in the cache: its tokens, slots and users, and the position of its next token. */
import type { ModelImage } from '../batch.ts';
import { SlotList } from './kv-cache.ts';

/** A stretch of context whose keys and values are (or are being) cached. */
export class CachedContext {
  /** Shared prefix this context continues, if any. */
  readonly prefix: CachedContext | undefined;
  readonly slots: SlotList = new SlotList();
  /** Tokens of this stretch, prefix excluded. */
  readonly tokens: number[] = [];
  /** Images whose placeholders lie in the cached tokens, prefix included. */
  readonly images: ModelImage[];
  /** M-RoPE position of the next token. */
  nextPosition: number;
  /** Running requests and contexts that read its slots. */
  users = 0;
  /** True once it accepts no new users; its slots are freed with the last user. */
  isReleased = false;

  constructor(prefix?: CachedContext) {
    this.prefix = prefix;
    this.images = [...(prefix?.images ?? [])];
    this.nextPosition = prefix?.nextPosition ?? 0;
    if (prefix !== undefined) prefix.users++;
  }

  /** Tokens cached, prefix included. */
  get length(): number {
    return (this.prefix?.tokens.length ?? 0) + this.tokens.length;
  }

  /** True if the cached tokens and images are a prefix of this context. */
  begins(context: Int32Array, images: readonly ModelImage[]): boolean {
    if (this.length > context.length || this.images.length > images.length) return false;
    const start = this.prefix?.tokens.length ?? 0;
    return (
      this.tokens.every((token, i) => token === context[start + i]) &&
      this.images.every((image, i) => isSameImage(image, images[i] as ModelImage)) &&
      (this.prefix?.begins(context, images) ?? true)
    );
  }
}

/** What the positions of an image's placeholders depend on. */
const SHAPE = ['gridHeight', 'gridWidth', 'grids', 'tokenCount'] as const;

function isSameImage(a: ModelImage, b: ModelImage): boolean {
  if (a === b) return true;
  if (!SHAPE.every((field) => a[field] === b[field])) return false;
  if (a.video?.secondsPerGrid !== b.video?.secondsPerGrid) return false;
  return a.patches.every((value, i) => value === b.patches[i]);
}
