/** The rows of one pass: tokens, positions, cache slots, and which keys each row sees. */
import type { ModelImage } from '../batch.ts';
import type { CachedContext } from './conversation.ts';
import { type KvCache, PAGE } from './kv-cache.ts';
import { NO_PAGE } from './page-index.ts';
import type { PrefillPart } from './prefill.ts';

export class PassPlan {
  readonly contexts: CachedContext[] = [];
  readonly images: ModelImage[] = [];
  /** Token ids, VISUAL where an image's feature goes. */
  readonly ids: number[] = [];
  readonly temporal: number[] = [];
  readonly height: number[] = [];
  readonly width: number[] = [];
  /** Cache slot of each row. */
  readonly slots: number[] = [];
  /** Start and end of each span of slots, and where each row's spans begin. */
  readonly spans: number[] = [];
  readonly spanOffsets: number[] = [0];
  /** Last row of each entry. */
  readonly lastRows: number[] = [];
  readonly #cache: KvCache;

  constructor(cache: KvCache) {
    this.#cache = cache;
  }

  /**
   * Appends tokens to a context, at once in its books and with the pass in its cache. Contexts that
   * continue it may be added right after.
   */
  add(context: CachedContext, part: PrefillPart): void {
    const { tokens, ids } = part;
    const before = context.tokens.length;
    this.#cache.extend(context.slots, tokens.length);
    for (let i = 0; i < tokens.length; i++) {
      context.tokens.push(tokens[i] as number);
      this.ids.push(ids[i] as number);
      this.temporal.push(part.temporal[i] as number);
      this.height.push(part.height[i] as number);
      this.width.push(part.width[i] as number);
      this.slots.push(context.slots.slot(before + i));
      if (context.prefix) context.prefix.slots.spans(context.prefix.tokens.length, this.spans);
      context.slots.spans(before + i + 1, this.spans);
      this.spanOffsets.push(this.spans.length / 2);
    }
    for (const start of part.imageStarts) context.imageStarts.push(before + start);
    context.nextPosition = part.next;
    context.images.push(...part.images);
    this.images.push(...part.images);
    this.lastRows.push(this.ids.length - 1);
    this.contexts.push(context);
    this.#publish(context, before);
  }

  /**
   * Appends what is to come of a context and of its prefix, `most` tokens of it at most. True if
   * that was all, so that a token can be sampled from its last row.
   */
  prefill(context: CachedContext, most: number): boolean {
    let left = most;
    for (const one of [context.prefix, context]) {
      if (one?.prefill === undefined) continue;
      if (left <= 0) return false;
      const part = one.prefill.take(left);
      left -= part.tokens.length;
      const isAll = one.prefill.length === 0;
      if (isAll) one.prefill = undefined;
      this.add(one, part);
      if (!isAll) return false;
    }
    return true;
  }

  /** Lets other contexts find the pages that are full now; those on a prefix begin anywhere. */
  #publish(context: CachedContext, before: number): void {
    if (context.prefix !== undefined) return;
    const { pages } = context.slots;
    for (let i = Math.floor(before / PAGE); (i + 1) * PAGE <= context.tokens.length; i++) {
      this.#cache.index.add(pages[i - 1] ?? NO_PAGE, pages[i] as number, context.contentOf(i));
    }
  }
}
