/** The HTTP client of all packages: deadlines, retries where they are safe, bounded answers. */
import { ConfigError, messageOf } from '@saccade/core';
import pRetry from 'p-retry';
import { HttpError } from './http-error.ts';
import { faultOf, lost, refusalIn } from './http-failures.ts';
import { JsonError, type JsonLimits, parseJson } from './json.ts';
import { OversizedBody, readAnswer } from './read-answer.ts';
import { pause, retryAfterMs } from './retry-after.ts';

/** Server, credentials and limits of an `HttpClient`. */
export interface HttpClientOptions {
  /** Address of the server with its path prefix: `http://127.0.0.1:8000/v1`. */
  readonly baseUrl: string;
  /** Sent as a bearer token. It never appears in a message or an error. */
  readonly token?: string;
  /** More headers, sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Time limit of one try, including its answer. Default 240; Infinity leaves it to the signal. */
  readonly timeoutSeconds?: number;
  /** Most retries of a request, where a retry is safe. Default 5. */
  readonly retries?: number;
  /**
   * Whether a request that the server failed to handle (500 and above, but 503) is sent again, too: for a
   * server all of whose requests can be repeated. Default false.
   */
  readonly repeatsFailed?: boolean;
  /** Pause before the first retry, in seconds; it doubles each time, with jitter. Default 0.25. */
  readonly firstPauseSeconds?: number;
  /** Longest pause, in seconds, even if the server asks for more. Default 60. */
  readonly longestPauseSeconds?: number;
  /** Largest answer that is read, in bytes after decompression. Default 256 MiB. */
  readonly maxAnswerBytes?: number;
  /** Bounds of JSON answers. */
  readonly json?: JsonLimits;
  /** Told of every try that failed and is followed by another. */
  readonly onRetry?: (error: HttpError) => void;
  /** Another fetch, for example `patientFetch`. Default: the platform's. */
  readonly fetch?: typeof fetch;
}

/** One request of an `HttpClient`. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path that begins with a slash; appended to `baseUrl`. */
  readonly path: string;
  /** JSON text, or bytes of the `content-type` that `headers` say. */
  readonly body?: string | Uint8Array<ArrayBuffer>;
  /** Headers of this request, beside the client's. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Aborts the request and its pauses between retries. */
  readonly signal?: AbortSignal;
  /** Sent as `Idempotency-Key`, so that retries are safe on a service that supports it. */
  readonly idempotencyKey?: string;
  /** Overrides the client's time limit of one try. */
  readonly timeoutSeconds?: number;
}

/** A complete answer of the server, whatever its status. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The body, decompressed and decoded as UTF-8. */
  readonly text: string;
}

/** A complete answer whose body is not text. */
export interface HttpBytesAnswer extends Omit<HttpAnswer, 'text'> {
  /** The body, decompressed. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** One request whose answer is read as it arrives. */
export interface HttpStreamRequest extends HttpRequest {
  /** Longest silence before and between pieces, in seconds. Default: any. */
  readonly idleSeconds?: number;
}

/** How the pieces of an answer are taken. */
interface PieceOptions {
  readonly idle?: { readonly signal: AbortSignal; readonly seconds: number };
  readonly onPiece?: (piece: string) => void;
  readonly onBytes?: (piece: Uint8Array) => void;
}

/** The reason of a stream that was silent for too long. */
const SILENT = Symbol('silent');

/** Timers hold 31 bits of milliseconds; longer limits count as none. */
const LONGEST_TIMER_SECONDS = 2_000_000;

/** Most characters of an answer that an error quotes. */
const QUOTED_CHARACTERS = 300;

/**
 * Sends requests to one server with a deadline per try, bounded answers, and retries where they are
 * safe: the server did not act on the request, or the request is idempotent.
 */
export class HttpClient {
  /** `baseUrl` without a slash at its end. */
  readonly url: string;
  readonly #options: Required<Omit<HttpClientOptions, 'baseUrl' | 'token'>>;

  /** @throws ConfigError if an option is invalid */
  constructor(options: HttpClientOptions) {
    const { baseUrl, token, headers, timeoutSeconds = 240, retries = 5 } = options;
    if (!URL.canParse(baseUrl) || !/^https?:\/\/[^/]/.test(baseUrl)) {
      throw new ConfigError(
        'baseUrl',
        `baseUrl: expected an address like http://127.0.0.1:8000, got "${baseUrl}".`,
      );
    }
    if (!(timeoutSeconds > 0)) {
      throw new ConfigError(
        'timeoutSeconds',
        `timeoutSeconds: expected a number above 0, got ${timeoutSeconds}.`,
      );
    }
    if (!Number.isInteger(retries) || retries < 0) {
      throw new ConfigError('retries', `retries: expected a whole number from 0, got ${retries}.`);
    }
    this.url = withoutSlashes(baseUrl);
    this.#options = {
      timeoutSeconds,
      retries,
      repeatsFailed: options.repeatsFailed ?? false,
      firstPauseSeconds: options.firstPauseSeconds ?? 0.25,
      longestPauseSeconds: options.longestPauseSeconds ?? 60,
      maxAnswerBytes: options.maxAnswerBytes ?? 256 * 2 ** 20,
      json: options.json ?? {},
      onRetry: options.onRetry ?? (() => {}),
      fetch: options.fetch ?? ((...args) => fetch(...args)),
      headers: {
        'content-type': 'application/json',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...headers,
      },
    };
  }

  /**
   * Sends a request and returns the answer, whatever its status.
   *
   * It retries if the server certainly did not act on the request: no connection, or 429 or 503
   * with `Retry-After`. A GET and a request with an idempotency key are also retried if the
   * connection breaks; with `repeatsFailed`, every request that the server failed to handle.
   *
   * @throws HttpError if there is no answer; the signal's reason if it is aborted
   */
  async send(request: HttpRequest): Promise<HttpAnswer> {
    return await this.#sendPatiently(request);
  }

  /** The same as `send`, for answers that are not text. */
  async sendForBytes(request: HttpRequest): Promise<HttpBytesAnswer> {
    const pieces: Uint8Array[] = [];
    const start = (): void => void pieces.splice(0);
    const onBytes = (piece: Uint8Array): void => void pieces.push(piece);
    const { status, headers, text } = await this.#sendPatiently(request, { start, onBytes });
    return {
      status,
      headers,
      bytes: text === '' ? joined(pieces) : new TextEncoder().encode(text),
    };
  }

  async #sendPatiently(
    request: HttpRequest,
    taken?: { readonly start: () => void; readonly onBytes: (piece: Uint8Array) => void },
  ): Promise<HttpAnswer> {
    const { signal, method, idempotencyKey } = request;
    const { retries, repeatsFailed, firstPauseSeconds, longestPauseSeconds } = this.#options;
    const longestMs = longestPauseSeconds * 1000;
    const isRepeatable = method === 'GET' || idempotencyKey !== undefined;
    let last: HttpAnswer | undefined;
    const once = async (): Promise<HttpAnswer> => {
      last = undefined;
      taken?.start();
      const answer = await this.#try(request, taken);
      const isRepeated = repeatsFailed && faultOf(answer.status) === 'failed';
      if (retryAfterMs(answer) === undefined && !isRepeated) return answer;
      last = answer;
      throw this.#refusalOf(request.path, answer);
    };
    signal?.throwIfAborted();
    try {
      return await pRetry(once, {
        retries,
        minTimeout: Math.min(longestMs, firstPauseSeconds * 1000),
        maxTimeout: longestMs,
        randomize: true,
        ...(signal !== undefined && { signal }),
        shouldRetry: ({ error }) =>
          error instanceof HttpError &&
          (!error.mayHaveRun ||
            (isRepeatable && error.fault === 'broken') ||
            (repeatsFailed && error.fault === 'failed')),
        onFailedAttempt: async ({ error, retriesLeft }) => {
          if (!(error instanceof HttpError) || retriesLeft === 0) return;
          this.#options.onRetry(error);
          await pause(Math.min(error.retryAfterMs ?? 0, longestMs), signal);
        },
      });
    } catch (error) {
      signal?.throwIfAborted();
      // Out of retries: return the last answer.
      if (last !== undefined) return last;
      throw error;
    }
  }

  /**
   * Sends a request and returns the text of a 2xx answer.
   *
   * @throws HttpError for any other outcome; the signal's reason if it is aborted
   */
  async text(request: HttpRequest): Promise<string> {
    const answer = await this.send(request);
    if (answer.status < 200 || answer.status >= 300) throw this.#refusalOf(request.path, answer);
    return answer.text;
  }

  /**
   * Sends a request and returns the JSON of a 2xx answer, checked only for depth and size.
   *
   * @throws HttpError for any other outcome; the signal's reason if it is aborted
   */
  async json(request: HttpRequest): Promise<unknown> {
    const text = await this.text(request);
    try {
      return parseJson(text, this.#options.json);
    } catch (cause) {
      const isLarge = cause instanceof JsonError && cause.fault !== 'syntax';
      const what = isLarge ? messageOf(cause) : 'it is not JSON';
      const reason = `${what}: ${JSON.stringify(text.slice(0, QUOTED_CHARACTERS))}`;
      const where = `${this.url}${request.path}`;
      throw new HttpError(
        'garbled',
        `${where} gave an answer that cannot be used: ${reason}. Check what listens there.`,
        { mayHaveRun: true, reason, cause },
      );
    }
  }

  /**
   * Sends a request once and gives the text of a 2xx answer piece by piece, as it arrives. Leaving
   * the loop early ends the connection.
   *
   * @throws HttpError for any other outcome; the signal's reason if it is aborted
   */
  async *stream(request: HttpStreamRequest): AsyncGenerator<string> {
    const idle = new AbortController();
    const pieces: string[] = [];
    let isOpen = true;
    let wake = (): void => {};
    const idleSeconds = request.idleSeconds ?? Number.POSITIVE_INFINITY;
    const isTimed = idleSeconds < LONGEST_TIMER_SECONDS;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const restart = (): void => {
      clearTimeout(timer);
      if (isTimed && isOpen) timer = setTimeout(() => idle.abort(SILENT), 1000 * idleSeconds);
    };
    restart();
    const answered = this.#try(request, {
      idle: { signal: idle.signal, seconds: idleSeconds },
      onPiece(piece) {
        restart();
        pieces.push(piece);
        wake();
      },
    });
    const ended = answered.then(
      () => undefined,
      () => undefined,
    );
    void ended.then(() => {
      isOpen = false;
      clearTimeout(timer);
      wake();
    });
    try {
      for (;;) {
        const piece = pieces.shift();
        if (piece !== undefined) yield piece;
        else if (isOpen) await new Promise<void>((resolve) => (wake = resolve));
        else break;
      }
      const answer = await answered;
      if (answer.status < 200 || answer.status >= 300) throw this.#refusalOf(request.path, answer);
    } finally {
      idle.abort();
      clearTimeout(timer);
    }
  }

  async #try(request: HttpRequest, pieces?: PieceOptions): Promise<HttpAnswer> {
    const { method, path, body, signal, idempotencyKey } = request;
    const { fetch: send, headers, maxAnswerBytes } = this.#options;
    const seconds = request.timeoutSeconds ?? this.#options.timeoutSeconds;
    signal?.throwIfAborted();
    const url = `${this.url}${path}`;
    const limit = seconds < LONGEST_TIMER_SECONDS ? AbortSignal.timeout(1000 * seconds) : undefined;
    const idle = pieces?.idle;
    const signals = [signal, limit, idle?.signal].filter((one) => one !== undefined);
    let hasAnswer = false;
    try {
      const response = await send(url, {
        method,
        headers: {
          ...headers,
          ...request.headers,
          ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
        },
        ...(signals.length > 0 && { signal: AbortSignal.any(signals) }),
        ...(body !== undefined && { body }),
      });
      hasAnswer = true;
      const text = await readAnswer(response, maxAnswerBytes, response.ok ? pieces : undefined);
      return { status: response.status, headers: response.headers, text };
    } catch (cause) {
      if (idle?.signal.aborted && idle.signal.reason === SILENT) {
        const reason = `nothing for ${idle.seconds} s`;
        const message = `${url} said ${reason}. Raise idleSeconds, or ask for less at a time.`;
        throw new HttpError('timeout', message, { mayHaveRun: true, reason, cause });
      }
      signal?.throwIfAborted();
      if (limit?.aborted) {
        const reason = `no answer within ${seconds} s`;
        const message = `${url} gave ${reason}. Raise timeoutSeconds, or ask for less at a time.`;
        throw new HttpError('timeout', message, { mayHaveRun: true, reason, cause });
      }
      if (cause instanceof OversizedBody) {
        const reason = `its answer is too large: ${cause.message}`;
        const message = `${url}: ${reason}. Ask for less, or raise maxAnswerBytes.`;
        throw new HttpError('oversized', message, { mayHaveRun: true, reason, cause });
      }
      throw lost(url, cause, hasAnswer);
    }
  }

  #refusalOf(path: string, answer: HttpAnswer): HttpError {
    const { status, text } = answer;
    const refusal = refusalIn(text, this.#options.json);
    const waitMs = retryAfterMs(answer);
    const said =
      refusal === undefined
        ? text.slice(0, QUOTED_CHARACTERS).trim()
        : `${refusal.fact} ${refusal.remedy}`;
    const fault = faultOf(status);
    const reason = `status ${status}: ${said}`;
    return new HttpError(fault, `${this.url}${path} answered ${status}: ${said}.`, {
      // Nothing was started if there is `Retry-After`, or if the request itself was refused.
      mayHaveRun: !(waitMs !== undefined || fault === 'refused' || status === 429),
      reason,
      status,
      ...(refusal !== undefined && { refusal }),
      ...(waitMs !== undefined && { retryAfterMs: waitMs }),
    });
  }
}

function joined(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(pieces.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.byteLength;
  }
  return all;
}

function withoutSlashes(url: string): string {
  let end = url.length;
  while (end > 0 && url[end - 1] === '/') end--;
  return url.slice(0, end);
}
