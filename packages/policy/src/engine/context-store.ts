/** Cached contexts by name: conversations, and the prefixes that groups of them share. */
import { DataError } from '@saccade/core';
import type { LanguageModel } from '../models/language-model.ts';
import type { SampleRequest } from '../policy.ts';
import { CachedContext } from './conversation.ts';
import type { KvCache } from './kv-cache.ts';
import type { PassPlan } from './pass-plan.ts';

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
   * The context of a request with all its tokens in the plan: its conversation if what is cached
   * begins the request, else a new one on its shared prefix. The caller becomes its user.
   *
   * @throws DataError if images and placeholders do not match, or if the request does not begin
   *         with the prefix that it shares
   */
  open(request: SampleRequest, plan: PassPlan): CachedContext {
    const context = this.#conversationOf(request, plan);
    context.users++;
    try {
      const tokens = request.tokens.slice(context.length);
      plan.add(context, tokens, request.images.slice(context.images.length));
    } catch (error) {
      this.close(context);
      this.discard(context);
      throw error;
    }
    return context;
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

  #conversationOf(request: SampleRequest, plan: PassPlan): CachedContext {
    const { conversation, tokens, images } = request;
    const cached = this.#conversations.get(conversation);
    // The last token is always recomputed, because the first sample depends on it.
    if (cached !== undefined && cached.length < tokens.length && cached.begins(tokens, images)) {
      return cached;
    }
    this.release(conversation);
    const context = new CachedContext(this.#prefixOf(request, plan));
    this.#conversations.set(conversation, context);
    return context;
  }

  /** The shared prefix of a request; one that is not cached yet joins the plan. */
  #prefixOf(request: SampleRequest, plan: PassPlan): CachedContext | undefined {
    if (request.sharedPrefix === undefined) return undefined;
    const { key, length } = request.sharedPrefix;
    const shared = Math.min(length, request.tokens.length - 1);
    if (shared === 0) return undefined;
    const existing = this.#prefixes.get(key);
    if (existing !== undefined) {
      if (existing.begins(request.tokens, request.images) && existing.length === shared) {
        return existing;
      }
      throw new DataError(
        `A request begins differently from the prefix "${key}" that it shares. ` +
          'Use one key for one prompt and its images.',
      );
    }
    const tokens = request.tokens.slice(0, shared);
    const imageCount = this.#model.countImages(tokens, request.images);
    const context = new CachedContext();
    plan.add(context, tokens, request.images.slice(0, imageCount));
    this.#prefixes.set(key, context);
    return context;
  }
}
