/** The rows of one pass: tokens, positions, cache slots, and which keys each row sees. */
import type { ModelImage } from '../batch.ts';
import type { LanguageModel } from '../models/language-model.ts';
import type { CachedContext } from './conversation.ts';
import type { KvCache } from './kv-cache.ts';

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
  readonly #model: LanguageModel;

  constructor(cache: KvCache, model: LanguageModel) {
    this.#cache = cache;
    this.#model = model;
  }

  /**
   * Appends tokens to a context, at once in its books and with the pass in its cache. Contexts that
   * continue it may be added right after.
   */
  add(context: CachedContext, tokens: Int32Array, images: readonly ModelImage[]): void {
    const at = this.#model.place(tokens, images, context.nextPosition);
    const before = context.tokens.length;
    this.#cache.extend(context.slots, tokens.length);
    for (let i = 0; i < tokens.length; i++) {
      context.tokens.push(tokens[i] as number);
      this.ids.push(at.ids[i] as number);
      this.temporal.push(at.temporal[i] as number);
      this.height.push(at.height[i] as number);
      this.width.push(at.width[i] as number);
      this.slots.push(context.slots.slot(before + i));
      if (context.prefix) context.prefix.slots.spans(context.prefix.tokens.length, this.spans);
      context.slots.spans(before + i + 1, this.spans);
      this.spanOffsets.push(this.spans.length / 2);
    }
    context.nextPosition = at.next;
    context.images.push(...images);
    this.images.push(...images);
    this.lastRows.push(this.ids.length - 1);
    this.contexts.push(context);
  }
}
