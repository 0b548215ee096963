/** A client of one model behind an OpenAI-compatible server. */
import { readSettings } from '@saccade/core/settings';
import { HttpClient, HttpError } from '@saccade/http';
import { createParser } from 'eventsource-parser';
import pLimit from 'p-limit';
import pRetry from 'p-retry';
import { ChatError, type ChatFault } from './chat-error.ts';
import type { ChatModel } from './chat-model.ts';
import { type ChatReply, ReplyReader, type TokenCounts } from './chat-reply.ts';
import { bodyOf, type ChatRequest } from './chat-request.ts';
import { RateLimiter } from './rate-limiter.ts';
import { type ChatSettings, chatSettings } from './settings.ts';
import { type ChatUsage, UsageMeter } from './usage.ts';

/** Replies by the digest of their request. */
export interface ReplyCache {
  get(key: string): Promise<ChatReply | undefined>;
  set(key: string, reply: ChatReply): Promise<void>;
}

/** Options of `openChatClient`: every setting of `chatSettings`, the key itself, and a cache. */
export interface ChatClientOptions extends Partial<Omit<ChatSettings, 'keyVariable'>> {
  /** Sent as a bearer token; never part of a message, an error or a cache. */
  readonly apiKey?: string;
  /** Default: every request is sent. */
  readonly cache?: ReplyCache;
  /** Told of every try that failed and is followed by another. */
  readonly onRetry?: (error: ChatError) => void;
  /** Another fetch, for example `patientFetch` of `@saccade/http`. Default: the platform's. */
  readonly fetch?: typeof fetch;
}

/** How one reply is delivered. */
export interface Delivery {
  readonly signal?: AbortSignal;
  /** Told the text so far, after every piece; true ends the stream, and the reply is what was said. */
  readonly isEnough?: (text: string) => boolean;
}

/** A client of one model. */
export interface ChatClient {
  /** The model and its location. */
  readonly name: string;
  /** What was used so far. */
  usage(): ChatUsage;
  /**
   * One reply: from the cache, or from the server, which is asked again where that can help.
   *
   * @throws ChatError if there is no reply; the signal's reason if it is aborted
   */
  complete(request: ChatRequest, delivery?: Delivery): Promise<ChatReply>;
}

/** Larger replies are no replies. */
const LARGEST_REPLY_BYTES = 64 * 2 ** 20;
/** Characters of a token in ordinary text, where nobody counts. */
const CHARACTERS_PER_TOKEN = 4;

const PATH = '/chat/completions';

/**
 * Opens a client. It holds no connection, so there is nothing to close.
 *
 * @throws ConfigError naming a setting that is out of range
 */
export function openChatClient(options: ChatClientOptions): ChatClient {
  return new OpenAiClient(options);
}

/** A model behind a server as judges and filters see it: text for messages. */
export function openAiChat(options: ChatClientOptions): ChatModel {
  return chatModel(openChatClient({ streams: false, ...options }));
}

/** A client as judges and filters see it. Its requests have the seed 0, unless told otherwise. */
export function chatModel(client: ChatClient, seed = 0): ChatModel {
  return {
    name: client.name,
    async reply(messages, { signal, temperature, maxTokens }) {
      const request = { messages, temperature, maxTokens, seed };
      const { text } = await client.complete(request, { ...(signal && { signal }) });
      return text;
    },
  };
}

class OpenAiClient implements ChatClient {
  readonly name: string;
  readonly #settings: ChatSettings;
  readonly #options: ChatClientOptions;
  readonly #http: HttpClient;
  readonly #limiter: RateLimiter;
  readonly #places: ReturnType<typeof pLimit>;
  readonly #meter: UsageMeter;
  readonly #underWay = new Map<string, Promise<ChatReply>>();

  constructor(options: ChatClientOptions) {
    const { apiKey, cache: _, onRetry: __, fetch, ...given } = options;
    const settings = readSettings('chat', chatSettings, given);
    this.#settings = settings;
    this.#options = options;
    this.name = `${settings.model} at ${settings.baseUrl}`;
    this.#http = new HttpClient({
      // Retries are this client's: a chat request may be sent twice.
      ...{ baseUrl: settings.baseUrl, retries: 0, maxAnswerBytes: LARGEST_REPLY_BYTES },
      timeoutSeconds: settings.timeoutSeconds,
      ...(apiKey !== undefined && { token: apiKey }),
      ...(fetch && { fetch }),
    });
    const { requestsPerMinute, tokensPerMinute } = settings;
    this.#limiter = new RateLimiter({
      ...(requestsPerMinute !== undefined && { requestsPerMinute }),
      ...(tokensPerMinute !== undefined && { tokensPerMinute }),
    });
    this.#places = pLimit(settings.maxConcurrent);
    this.#meter = new UsageMeter(settings);
  }

  usage(): ChatUsage {
    return this.#meter.read();
  }

  async complete(request: ChatRequest, delivery: Delivery = {}): Promise<ChatReply> {
    delivery.signal?.throwIfAborted();
    const body = bodyOf(request, this.#settings.model, this.#settings.maxTokensField);
    const { cache } = this.#options;
    if (cache === undefined) return await this.#places(() => this.#ask(request, body, delivery));
    const key = await digestOf(JSON.stringify([this.#http.url, body]));
    // Equal requests at a time are sent once; where that one fails, the next is sent.
    for (let running = this.#underWay.get(key); running; running = this.#underWay.get(key)) {
      const shared = await running.catch(() => undefined);
      if (shared === undefined) continue;
      this.#meter.cached++;
      return shared;
    }
    const found = this.#find(key, cache, () =>
      this.#places(() => this.#ask(request, body, delivery)),
    );
    this.#underWay.set(key, found);
    return await found.finally(() => this.#underWay.delete(key));
  }

  async #find(key: string, cache: ReplyCache, ask: () => Promise<ChatReply>): Promise<ChatReply> {
    const known = await cache.get(key);
    if (known !== undefined) {
      this.#meter.cached++;
      return known;
    }
    const reply = await ask();
    await cache.set(key, reply);
    return reply;
  }

  async #ask(
    request: ChatRequest,
    body: Readonly<Record<string, unknown>>,
    delivery: Delivery,
  ): Promise<ChatReply> {
    const { retries, firstPauseSeconds, longestPauseSeconds } = this.#settings;
    const longestMs = 1000 * longestPauseSeconds;
    const { signal } = delivery;
    return await pRetry(() => this.#try(request, body, delivery), {
      retries,
      minTimeout: Math.min(1000 * firstPauseSeconds, longestMs),
      maxTimeout: longestMs,
      randomize: true,
      ...(signal && { signal }),
      shouldRetry: ({ error }) => error instanceof ChatError && error.isTransient,
      onFailedAttempt: ({ error, retriesLeft }) => {
        if (!(error instanceof ChatError) || !error.isTransient || retriesLeft === 0) return;
        this.#meter.retries++;
        this.#options.onRetry?.(error);
        // The wait is for everybody: the limit is the server's, not this request's.
        if (error.retryAfterMs) this.#limiter.holdFor(Math.min(error.retryAfterMs, longestMs));
      },
    });
  }

  async #try(
    request: ChatRequest,
    body: Readonly<Record<string, unknown>>,
    { signal, isEnough }: Delivery,
  ): Promise<ChatReply> {
    const { maxCost, streams } = this.#settings;
    if (maxCost !== undefined && this.#meter.cost >= maxCost) {
      throw new ChatError(
        'budget',
        `${this.name}: ${this.#meter.cost.toFixed(4)} of maxCost ${maxCost} are spent, so nothing ` +
          'more is sent. Raise maxCost to go on.',
        { isTransient: false },
      );
    }
    const promptTokens = this.#estimate(request);
    const estimate = promptTokens + (request.maxTokens ?? 0);
    await this.#limiter.take(estimate, signal);
    const reader = new ReplyReader(`${this.#http.url}${PATH}`);
    let hasEnded = false;
    try {
      const send = { method: 'POST', path: PATH, ...(signal && { signal }) } as const;
      if (streams) await this.#stream(reader, body, { ...send, ...(isEnough && { isEnough }) });
      else reader.add(await this.#http.text({ ...send, body: JSON.stringify(body) }));
      const reply = reader.finish();
      hasEnded = true;
      return { ...reply, ...this.#count(estimate, promptTokens, reply) };
    } catch (error) {
      throw error instanceof HttpError ? chatErrorOf(error) : error;
    } finally {
      if (!hasEnded) this.#limiter.settle(estimate, promptTokens);
    }
  }

  async #stream(
    reader: ReplyReader,
    body: Readonly<Record<string, unknown>>,
    { isEnough, ...send }: Delivery & { readonly method: 'POST'; readonly path: string },
  ): Promise<void> {
    const json = JSON.stringify({ ...body, stream: true, stream_options: { include_usage: true } });
    let isDone = false;
    let isWhole = false;
    const parser = createParser({
      onEvent({ data }) {
        if (isDone) return;
        if (data !== '[DONE]') reader.add(data);
        isDone = data === '[DONE]' || isEnough?.(reader.text) === true;
      },
    });
    const { idleSeconds } = this.#settings;
    let start = '';
    for await (const piece of this.#http.stream({ ...send, body: json, idleSeconds })) {
      // Some servers stream nothing, whatever they are asked for.
      if (start === '') isWhole = piece.trimStart().startsWith('{');
      start += isWhole || start === '' ? piece : '';
      if (!isWhole) parser.feed(piece);
      if (isDone) return;
    }
    if (isWhole) reader.add(start);
    else reader.checkEnded();
  }

  /** Counts a reply; what the server did not count is estimated. */
  #count(
    estimate: number,
    promptTokens: number,
    { usage, text, reasoning = '' }: ChatReply,
  ): { readonly usage: TokenCounts } {
    const letters = text.length + reasoning.length;
    const completionTokens = Math.ceil(letters / CHARACTERS_PER_TOKEN);
    const counts = usage ?? { promptTokens, completionTokens };
    this.#meter.add(counts, usage !== undefined);
    this.#limiter.settle(estimate, counts.promptTokens + counts.completionTokens);
    return { usage: counts };
  }

  #estimate({ messages }: ChatRequest): number {
    let tokens = 0;
    for (const part of messages.flatMap(({ parts }) => parts)) {
      tokens +=
        part.kind === 'text'
          ? Math.ceil(part.text.length / CHARACTERS_PER_TOKEN)
          : this.#settings.imageTokens;
    }
    return tokens;
  }
}

const faults: Readonly<Record<HttpError['fault'], ChatFault>> = {
  unreachable: 'unreachable',
  timeout: 'timeout',
  overloaded: 'overloaded',
  refused: 'refused',
  failed: 'failed',
  broken: 'broken',
  oversized: 'garbled',
  garbled: 'garbled',
};

function chatErrorOf(error: HttpError): ChatError {
  const { status, retryAfterMs, message } = error;
  const isTransient = error.isTransient || status === 408 || status === 409;
  const remedy =
    status === undefined
      ? ''
      : isTransient
        ? ' It may answer later.'
        : ' Check the model, the key and the request.';
  return new ChatError(faults[error.fault], `${message}${remedy}`, {
    ...{ isTransient, cause: error },
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

async function digestOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
