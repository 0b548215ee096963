/** JSON over HTTP to an engine, with the engine's words for what goes wrong. */
import { ConfigError } from '@saccade/core';
import {
  HttpClient,
  HttpError,
  type HttpFault,
  type HttpRequest,
  parseJson as parseBounded,
} from '@saccade/http';
import { EngineError, type EngineFault } from './engine-error.ts';

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

const faults: Readonly<Record<HttpFault, EngineFault>> = {
  unreachable: 'unreachable',
  timeout: 'timeout',
  overloaded: 'overloaded',
  refused: 'refused',
  failed: 'failed',
  broken: 'broken',
  oversized: 'garbled',
  garbled: 'garbled',
};

const remedies: Readonly<Partial<Record<EngineFault, string>>> = {
  overloaded: ' Lower the concurrency, or wait until it is ready.',
  failed: ' Its log says why.',
  refused: ' Check the model, the key and the options of the server.',
};

export class EngineHttp {
  /** Without a slash or `/v1` at its end. */
  readonly url: string;
  readonly #client: HttpClient;

  /** @throws ConfigError for a URL or number that cannot be */
  constructor(options: EngineHttpOptions) {
    const { baseUrl, apiKey, timeoutSeconds = 240, retries = 5, fetch: own } = options;
    if (!(timeoutSeconds > 0) || (own === undefined && timeoutSeconds > NODE_FETCH_SECONDS)) {
      throw new ConfigError(
        'timeoutSeconds',
        `timeoutSeconds must be above 0 and at most ${NODE_FETCH_SECONDS}, is ${timeoutSeconds}: ` +
          'fetch gives up by itself after 300. For longer answers give a fetch of your own.',
      );
    }
    this.#client = new HttpClient({
      ...{ baseUrl: withoutVersion(baseUrl), timeoutSeconds, retries },
      ...(apiKey !== undefined && { token: apiKey }),
      ...(own !== undefined && { fetch: own }),
    });
    this.url = this.#client.url;
  }

  /** The answer, whatever its status. @throws EngineError; the signal's reason if it is aborted */
  get(path: string, signal?: AbortSignal): Promise<EngineResponse> {
    const request = { method: 'GET', path, ...(signal && { signal }) } as const;
    return asEngine(() => this.#client.send(request));
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
  post(path: string, body: string, signal?: AbortSignal): Promise<unknown> {
    return asEngine(() => this.#client.json(postOf(path, body, signal)));
  }

  /** The same where the answer may be no JSON: its text. */
  send(path: string, body: string, signal?: AbortSignal): Promise<string> {
    return asEngine(() => this.#client.text(postOf(path, body, signal)));
  }
}

function postOf(path: string, body: string, signal: AbortSignal | undefined): HttpRequest {
  return { method: 'POST', path, body, ...(signal && { signal }) };
}

async function asEngine<Result>(act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    const fault = faults[error.fault];
    const { status, cause } = error;
    throw new EngineError(fault, `${error.message}${remedies[fault] ?? ''}`, {
      ...(status !== undefined && { status }),
      cause,
    });
  }
}

function withoutVersion(url: string): string {
  let end = url.length;
  while (end > 0 && url[end - 1] === '/') end--;
  return url.slice(0, end).endsWith('/v1') ? url.slice(0, end - 3) : url.slice(0, end);
}

/** @throws EngineError if it is no JSON */
export function parseJson(url: string, text: string): unknown {
  try {
    return parseBounded(text);
  } catch (cause) {
    throw new EngineError(
      'garbled',
      `${url} answered with no JSON: ${JSON.stringify(text.slice(0, QUOTED_CHARACTERS))}. ` +
        'Is it an engine that listens there?',
      { cause },
    );
  }
}
