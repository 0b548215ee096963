/** JSON over HTTP to an engine: time-outs, cancellation, and retries of what was never accepted. */
import { ConfigError, messageOf } from '@saccade/core';
import { EngineError } from './engine-error.ts';

export interface EngineHttpOptions {
  /** `http://127.0.0.1:8000`, with or without `/v1`. */
  readonly baseUrl: string;
  /** Sent as a bearer token; never part of a message or an error. */
  readonly apiKey?: string;
  /** Of one try, answer included. Default 240: Node's own fetch gives up after 300. */
  readonly timeoutSeconds?: number;
  /** Tries after the first, of requests that no server accepted. Default 5. */
  readonly retries?: number;
  /** Another fetch, e.g. with an agent of its own; it may wait longer than Node's. */
  readonly fetch?: typeof fetch;
}

export interface EngineResponse {
  readonly status: number;
  readonly text: string;
}

/** Longest part of a server's words that an error repeats. */
const QUOTED_CHARACTERS = 300;
const NODE_FETCH_SECONDS = 290;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 60_000;

/** Codes of errors before any byte of the request was taken. */
const UNSENT: readonly unknown[] = [
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
];

export class EngineHttp {
  /** Without a slash or `/v1` at its end. */
  readonly url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #timeoutSeconds: number;
  readonly #retries: number;
  readonly #fetch: typeof fetch;

  /** @throws ConfigError for a URL or number that cannot be */
  constructor(options: EngineHttpOptions) {
    const { baseUrl, apiKey, timeoutSeconds = 240, retries = 5, fetch: own } = options;
    if (!/^https?:\/\/[^/]/.test(baseUrl)) {
      throw new ConfigError('baseUrl', `An engine's URL begins with http://, got "${baseUrl}".`);
    }
    if (!(timeoutSeconds > 0) || (own === undefined && timeoutSeconds > NODE_FETCH_SECONDS)) {
      throw new ConfigError(
        'timeoutSeconds',
        `timeoutSeconds must be above 0 and at most ${NODE_FETCH_SECONDS}, is ${timeoutSeconds}: ` +
          'fetch gives up by itself after 300. For longer answers give a fetch of your own.',
      );
    }
    if (!Number.isInteger(retries) || retries < 0) {
      throw new ConfigError('retries', `retries must be a whole number from 0, is ${retries}.`);
    }
    this.url = baseUrl.replace(/\/+$/, '').replace(/\/v1$/, '');
    this.#headers = {
      'content-type': 'application/json',
      ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
    };
    this.#timeoutSeconds = timeoutSeconds;
    this.#retries = retries;
    this.#fetch = own ?? fetch;
  }

  /** The answer, whatever its status. @throws EngineError; the signal's reason if it is aborted */
  get(path: string, signal?: AbortSignal): Promise<EngineResponse> {
    return this.#persist('GET', path, undefined, signal);
  }

  /** Whether the engine answers this path at all with a success. */
  async has(path: string): Promise<boolean> {
    const { status } = await this.get(path);
    return status >= 200 && status < 300;
  }

  /**
   * A successful answer's JSON.
   *
   * @param body text of the JSON: a 64-bit seed is no JavaScript number
   * @throws EngineError for anything else; the signal's reason if it is aborted
   */
  async post(path: string, body: string, signal?: AbortSignal): Promise<unknown> {
    return parseJson(`${this.url}${path}`, await this.send(path, body, signal));
  }

  /** The same where the answer may be no JSON: its text. */
  async send(path: string, body: string, signal?: AbortSignal): Promise<string> {
    const { status, text } = await this.#persist('POST', path, body, signal);
    if (status < 200 || status >= 300) throw refusal(`${this.url}${path}`, status, text);
    return text;
  }

  /** Tries again what no server accepted. */
  async #persist(
    method: string,
    path: string,
    body: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<EngineResponse> {
    for (let attempt = 0; ; attempt++) {
      const backoff = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** attempt);
      try {
        const { retryAfterMs, ...response } = await this.#try(method, path, body, signal);
        if (retryAfterMs === undefined || attempt >= this.#retries) return response;
        await pause(Math.max(retryAfterMs, 1), signal);
      } catch (error) {
        const fault = error instanceof EngineError ? error.fault : undefined;
        const isSafe = fault === 'unreachable' || (fault === 'broken' && method === 'GET');
        if (!isSafe || attempt >= this.#retries) throw error;
        await pause(backoff, signal);
      }
    }
  }

  async #try(
    method: string,
    path: string,
    body: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<EngineResponse & { readonly retryAfterMs?: number }> {
    signal?.throwIfAborted();
    const url = `${this.url}${path}`;
    const limit = AbortSignal.timeout(1000 * this.#timeoutSeconds);
    const either = signal === undefined ? limit : AbortSignal.any([signal, limit]);
    let hasAnswer = false;
    try {
      const response = await this.#fetch(url, {
        method,
        headers: this.#headers,
        signal: either,
        ...(body !== undefined && { body }),
      });
      hasAnswer = true;
      const text = await response.text();
      const retryAfterMs = waitOf(response);
      return { status: response.status, text, ...(retryAfterMs !== undefined && { retryAfterMs }) };
    } catch (error) {
      signal?.throwIfAborted();
      if (limit.aborted) {
        throw new EngineError(
          'timeout',
          `${url} gave no answer within ${this.#timeoutSeconds} s. Raise timeoutSeconds, or ask for ` +
            'fewer tokens at a time.',
          { cause: error },
        );
      }
      const cause = error instanceof Error ? (error.cause ?? error) : error;
      const isUnsent = !hasAnswer && UNSENT.includes((cause as { code?: unknown } | null)?.code);
      const reason = messageOf(cause) || String((cause as { code?: unknown } | null)?.code);
      throw isUnsent
        ? new EngineError(
            'unreachable',
            `${url} cannot be reached: ${reason}. Start the server or change the URL.`,
            { cause: error },
          )
        : new EngineError(
            'broken',
            `${url} broke off: ${reason}. The request may have been served; it is not sent again.`,
            { cause: error },
          );
    }
  }
}

/** Milliseconds after which a request that was turned away may come again, if the server says so. */
function waitOf(response: Response): number | undefined {
  if (response.status !== 429 && response.status !== 503) return undefined;
  const header = response.headers.get('retry-after');
  if (header === null) return undefined;
  const seconds = Number(header);
  const wait = Number.isFinite(seconds) ? 1000 * seconds : Date.parse(header) - Date.now();
  return Number.isFinite(wait) ? Math.min(LONGEST_WAIT_MS, Math.max(0, wait)) : undefined;
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

function refusal(url: string, status: number, text: string): EngineError {
  const said = text.slice(0, QUOTED_CHARACTERS).trim();
  if (status === 429 || status === 503) {
    const remedy = 'Lower the concurrency, or wait until it is ready.';
    return new EngineError('overloaded', `${url} answered ${status}: ${said}. ${remedy}`, {
      status,
    });
  }
  if (status >= 500) {
    const remedy = 'Its log says why.';
    return new EngineError('failed', `${url} answered ${status}: ${said}. ${remedy}`, { status });
  }
  const remedy = 'Check the model, the key and the options of the server.';
  return new EngineError('refused', `${url} answered ${status}: ${said}. ${remedy}`, { status });
}

/** @throws EngineError if it is no JSON */
export function parseJson(url: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new EngineError(
      'garbled',
      `${url} answered with no JSON: ${JSON.stringify(text.slice(0, QUOTED_CHARACTERS))}. ` +
        'Is it an engine that listens there?',
      { cause },
    );
  }
}
