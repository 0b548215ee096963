/** A context in the cache: its tokens, its slots, and where its next token stands. */
import { SlotList } from './kv-cache.ts';

/** A stretch of context whose keys and values are (or are being) cached. */
export class CachedContext {
  /** Shared prefix this context continues, if any. */
  readonly prefix: CachedContext | undefined;
  readonly slots: SlotList = new SlotList();
  /** Tokens of this stretch, prefix excluded. */
  readonly tokens: number[] = [];
  /** Pictures whose placeholders lie in the cached tokens, prefix included. */
  imageCount: number;
  /** M-RoPE position of the next token. */
  nextPosition: number;

  constructor(prefix?: CachedContext) {
    this.prefix = prefix;
    this.imageCount = prefix?.imageCount ?? 0;
    this.nextPosition = prefix?.nextPosition ?? 0;
  }

  /** Tokens cached, prefix included. */
  get length(): number {
    return (this.prefix?.tokens.length ?? 0) + this.tokens.length;
  }

  /** True if the cached tokens are how `context` begins. */
  begins(context: Int32Array): boolean {
    if (this.length > context.length) return false;
    const start = this.prefix?.tokens.length ?? 0;
    const isSame = this.tokens.every((token, i) => token === context[start + i]);
    return isSame && (this.prefix?.begins(context) ?? true);
  }
}
