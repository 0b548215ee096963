/** Cached contexts by name: conversations, and the prefixes that groups of them share. */
import { DataError } from '@saccade/core';
import type { ModelImage } from '../batch.ts';
import type { LanguageModel } from '../models/language-model.ts';
import type { SampleRequest } from '../policy.ts';
import { CachedContext, pageContent } from './conversation.ts';
import { type KvCache, PAGE } from './kv-cache.ts';
import { NO_PAGE } from './page-index.ts';
import { Prefill } from './prefill.ts';

/**
 * A released context accepts no new users and keeps its slots until its last user is gone. So a
 * prefix may be released before the conversations that continue it.
 */
export class ContextStore {
  readonly #cache: KvCache;
  readonly #model: LanguageModel;
  readonly #conversations = new Map<string, CachedContext>();
  readonly #prefixes = new Map<string, CachedContext>();

  constructor(cache: KvCache, model: LanguageModel) {
    this.#cache = cache;
    this.#model = model;
  }

  /**
   * The context of a request, with what is to be computed of it: its conversation if what is cached
   * begins the request, else a new one on its shared prefix, or on pages with the same content. The
   * caller becomes its user.
   *
   * @throws DataError if images and placeholders do not match, or if the request does not begin
   *         with the prefix that it shares
   */
  open(request: SampleRequest): CachedContext {
    const context = this.#conversationOf(request);
    context.users++;
    try {
      const { length } = context;
      this.#plan(
        context,
        request.tokens.slice(length),
        request.images.slice(context.images.length),
      );
    } catch (error) {
      this.close(context);
      this.discard(context);
      throw error;
    }
    return context;
  }

  /** Frees contexts that nobody reads, the one unused for longest first, until there are `pages`. */
  makeRoom(pages: number): boolean {
    while (this.#cache.freePages < pages) {
      const idle = [...this.#conversations, ...this.#prefixes].find(([, { users }]) => users === 0);
      if (idle === undefined) return false;
      this.release(idle[0]);
    }
    return true;
  }

  /** One user less. */
  close(context: CachedContext): void {
    context.users--;
    this.#freeIfUnused(context);
  }

  /** Lets nobody use the conversation or shared prefix of this name again. */
  release(key: string): void {
    for (const contexts of [this.#conversations, this.#prefixes]) {
      const context = contexts.get(key);
      if (context === undefined) continue;
      contexts.delete(key);
      context.isReleased = true;
      this.#freeIfUnused(context);
    }
  }

  /** Releases a context whose slots hold nothing sure, whatever its name. */
  discard(context: CachedContext): void {
    for (const contexts of [this.#conversations, this.#prefixes]) {
      for (const [key, kept] of contexts) if (kept === context) this.release(key);
    }
  }

  /** Releases everything. */
  clear(): void {
    for (const key of [...this.#conversations.keys(), ...this.#prefixes.keys()]) this.release(key);
  }

  #freeIfUnused(context: CachedContext): void {
    if (!context.isReleased || context.users > 0) return;
    this.#cache.release(context.slots);
    if (context.prefix !== undefined) this.close(context.prefix);
  }

  #conversationOf(request: SampleRequest): CachedContext {
    const { conversation, tokens, images } = request;
    const cached = this.#conversations.get(conversation);
    // A request that was given up left some of its tokens to come.
    if (cached !== undefined) cached.prefill = undefined;
    // The last token is always recomputed, because the first sample depends on it.
    if (cached !== undefined && cached.length < tokens.length && cached.begins(tokens, images)) {
      // Behind the others: it is the latest one used.
      this.#conversations.delete(conversation);
      this.#conversations.set(conversation, cached);
      return cached;
    }
    this.release(conversation);
    const context = new CachedContext(this.#prefixOf(request));
    this.#conversations.set(conversation, context);
    return context;
  }

  /** The shared prefix of a request; one that is not cached yet is to come. */
  #prefixOf(request: SampleRequest): CachedContext | undefined {
    if (request.sharedPrefix === undefined) return undefined;
    const { key, length } = request.sharedPrefix;
    const shared = Math.min(length, request.tokens.length - 1);
    if (shared === 0 || !this.#fitsApart(request)) return undefined;
    const existing = this.#prefixes.get(key);
    if (existing !== undefined) {
      // It is one token shorter where a request was no longer than it: the last one is recomputed.
      const isAsLong = existing.length === length || existing.length === length - 1;
      if (isAsLong && existing.begins(request.tokens, request.images)) {
        return existing.length < request.tokens.length ? existing : undefined;
      }
      throw new DataError(
        `A request begins differently from the prefix "${key}" that it shares. ` +
          'Use one key for one prompt and its images.',
      );
    }
    const tokens = request.tokens.slice(0, shared);
    const imageCount = this.#model.countImages(tokens, request.images);
    if (this.#cutsImage(request, shared, imageCount)) return undefined;
    const context = new CachedContext();
    this.#plan(context, tokens, request.images.slice(0, imageCount));
    this.#prefixes.set(key, context);
    return context;
  }

  /** Whether there is room for a prefix that ends in a page of its own, which costs a page more. */
  #fitsApart({ tokens, maxTokens }: SampleRequest): boolean {
    return Math.ceil((tokens.length + maxTokens) / PAGE) < this.#cache.mostPages;
  }

  /** Whether a prefix of `length` tokens, with `whole` images, ends within the image after those. */
  #cutsImage({ tokens, images }: SampleRequest, length: number, whole: number): boolean {
    const left = images.slice(whole);
    return this.#model.countImages(tokens.subarray(length), left) < left.length;
  }

  /** Sets what is to come of a context. One that has nothing yet begins with known pages. */
  #plan(context: CachedContext, tokens: Int32Array, images: readonly ModelImage[]): void {
    const whole = new Prefill(tokens, images, context.nextPosition, this.#model);
    if (context.prefix !== undefined || context.tokens.length > 0) {
      context.prefill = whole;
      return;
    }
    const { imageStarts } = whole;
    const pages: number[] = [];
    while ((pages.length + 1) * PAGE < tokens.length) {
      const first = pages.length * PAGE;
      const content = pageContent(tokens.subarray(first, first + PAGE), first, images, imageStarts);
      const page = this.#cache.index.find(pages.at(-1) ?? NO_PAGE, content);
      if (page === undefined) break;
      pages.push(page);
    }
    while (pages.length > 0 && whole.isInImage(pages.length * PAGE)) pages.pop();
    const shared = pages.length * PAGE;
    if (shared === 0) {
      context.prefill = whole;
      return;
    }
    this.#cache.share(context.slots, pages);
    const count = imageStarts.filter((start) => start < shared).length;
    for (const token of tokens.subarray(0, shared)) context.tokens.push(token);
    context.images.push(...images.slice(0, count));
    context.imageStarts.push(...imageStarts.slice(0, count));
    context.nextPosition = whole.positionOf(shared);
    whole.skip(shared);
    context.prefill = whole;
  }
}
