/** Sends JSON over HTTP to an engine; errors become `EngineError`s. */
import { ConfigError } from '@saccade/core';
import {
  faultOf,
  HttpClient,
  HttpError,
  type HttpFault,
  type HttpRequest,
  parseJson as parseBounded,
} from '@saccade/http';
import { EngineError, type EngineFault } from './engine-error.ts';

/** Where an engine listens, and how requests to it are sent. */
export interface EngineHttpOptions {
  /** Address of the engine: `http://127.0.0.1:8000`, with or without `/v1`. */
  readonly baseUrl: string;
  /** Sent as a bearer token. It never appears in a message or an error. */
  readonly apiKey?: string;
  /**
   * Time limit of one try, including its answer. Default 240; at most 290 with Node's own fetch.
   */
  readonly timeoutSeconds?: number;
  /**
   * Most retries of a request that the server did not accept, or failed to handle. None changes what a
   * second one gives: samples follow from their seeds, weights from their version. Default 5.
   */
  readonly retries?: number;
  /**
   * Another fetch, for example `patientFetch` of `@saccade/http`, which waits longer than Node's.
   */
  readonly fetch?: typeof fetch;
}

export interface EngineResponse {
  readonly status: number;
  readonly text: string;
}

/** Most characters of an answer that an error quotes. */
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

  /** @throws ConfigError if an option is invalid */
  constructor(options: EngineHttpOptions) {
    const { baseUrl, apiKey, timeoutSeconds = 240, retries = 5, fetch: own } = options;
    if (!(timeoutSeconds > 0) || (own === undefined && timeoutSeconds > NODE_FETCH_SECONDS)) {
      throw new ConfigError(
        'timeoutSeconds',
        `timeoutSeconds must be above 0 and at most ${NODE_FETCH_SECONDS}, is ${timeoutSeconds}: ` +
          'Node’s fetch gives up after 300. For longer answers pass a fetch of your own.',
      );
    }
    this.#client = new HttpClient({
      ...{ baseUrl: withoutVersion(baseUrl), timeoutSeconds, retries, repeatsFailed: true },
      ...(apiKey !== undefined && { token: apiKey }),
      ...(own !== undefined && { fetch: own }),
    });
    this.url = this.#client.url;
  }

  /**
   * Sends a GET and returns the answer.
   *
   * @throws EngineError if there is none, or one that says nothing of what was asked for (429, and 500
   *   and above); the signal's reason if it is aborted
   */
  async get(path: string, signal?: AbortSignal): Promise<EngineResponse> {
    const request = { method: 'GET', path, ...(signal && { signal }) } as const;
    const answer = await asEngine(() => this.#client.send(request));
    const { status, text } = answer;
    if (status !== 429 && status < 500) return answer;
    const fault = faults[faultOf(status)];
    const said = `${this.url}${path} answered ${status}: ${text.slice(0, QUOTED_CHARACTERS).trim()}.`;
    throw new EngineError(fault, `${said}${remedies[fault] ?? ''}`, { status });
  }

  /** Whether the engine answers a GET of this path with 2xx. */
  async has(path: string): Promise<boolean> {
    const { status } = await this.get(path);
    return status >= 200 && status < 300;
  }

  /**
   * Sends a POST and returns the JSON of a 2xx answer.
   *
   * @param body  JSON as text, because a JavaScript number cannot hold a 64-bit seed
   * @throws EngineError for any other outcome; the signal's reason if it is aborted
   */
  post(path: string, body: string, signal?: AbortSignal): Promise<unknown> {
    return asEngine(() => this.#client.json(postOf(path, body, signal)));
  }

  /** The same, but returns the answer's text, which need not be JSON. */
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

/** @throws EngineError if the text is not JSON */
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
