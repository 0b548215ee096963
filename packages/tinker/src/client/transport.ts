/** Requests to a server of the wire: bodies in both forms, its errors typed, its incarnation watched. */
import { messageOf } from '@saccade/core';
import { HttpClient, HttpError, type HttpRequest, parseJson } from '@saccade/http';
import { BINARY, decodeBody, type EncodedBody, encodeBody } from '../wire/bodies.ts';
import {
  type TinkerCategory,
  type TinkerCode,
  TinkerError,
  type TinkerErrorDetails,
} from '../wire/tinker-error.ts';

/** Where a server is, and how it is asked. */
export interface TinkerConnection {
  /** Address of the server, without `/api/v1`. */
  readonly baseUrl: string;
  /** Sent as `x-api-key` and as a bearer token. It never appears in a message. */
  readonly token?: string;
  /** Time limit of one request; a long poll takes up to 30 seconds of it. Default 90. */
  readonly timeoutSeconds?: number;
  /** Retries of a request that did not reach the server. Default 5. */
  readonly retries?: number;
  /** Pause before the first retry, in seconds. Default 0.25. */
  readonly firstPauseSeconds?: number;
  /** Longest pause before a retry, in seconds, even if the server asks for more. Default 60. */
  readonly longestPauseSeconds?: number;
  /** Largest answer, in bytes. Default 1 GiB. */
  readonly maxAnswerBytes?: number;
  /** Another fetch: one with certificates, or one that fails on purpose. */
  readonly fetch?: typeof fetch;
}

/** One request to the wire. */
export interface TinkerRequest {
  readonly path: string;
  readonly body: EncodedBody;
  /** Whether the answer may be binary. */
  readonly takesBinary?: boolean;
  readonly timeoutSeconds?: number;
  readonly signal?: AbortSignal;
}

/** The header that carries a server's incarnation. */
export const INCARNATION = 'x-saccade-incarnation';
const CODES: readonly TinkerCode[] = [
  'sequence-gap',
  'sequence-conflict',
  'stale-version',
  'foreign-incarnation',
  'missing-blobs',
  'unknown-model',
  'unknown-route',
  'unknown-future',
  'no-gradient',
  'models-full',
  'unsupported-optimizer',
  'draining',
  'disk',
  'engine-lost',
];
/** Answers are tensors in JSON where a server knows no other form. */
const JSON_LIMITS = { maxDepth: 64, maxValues: 2 ** 26 };

export class TinkerTransport {
  readonly url: string;
  readonly #http: HttpClient;
  #incarnation: string | undefined;

  constructor(connection: TinkerConnection) {
    const { token, timeoutSeconds = 90, maxAnswerBytes = 2 ** 30, ...rest } = connection;
    this.#http = new HttpClient({
      ...rest,
      timeoutSeconds,
      maxAnswerBytes,
      baseUrl: `${connection.baseUrl.replace(/\/+$/, '')}/api/v1`,
      ...(token !== undefined && { token, headers: { 'x-api-key': token } }),
    });
    this.url = this.#http.url;
  }

  /** The start of the server that answers belong to; undefined where servers do not tell. */
  get incarnation(): string | undefined {
    return this.#incarnation;
  }

  /** Goes on with whatever server answers next. */
  forgetIncarnation(): void {
    this.#incarnation = undefined;
  }

  /** @throws TinkerError, HttpError */
  async get(path: string, timeoutSeconds?: number): Promise<unknown> {
    return await this.#send({
      method: 'GET',
      path,
      ...(timeoutSeconds !== undefined && { timeoutSeconds }),
    });
  }

  /** @throws TinkerError for an answer that is an error; HttpError where there is none */
  async post({ path, body, takesBinary, ...rest }: TinkerRequest): Promise<unknown> {
    return await this.#send({
      ...rest,
      method: 'POST',
      path,
      body: body.bytes,
      headers: {
        'content-type': body.contentType,
        ...(takesBinary && { accept: BINARY }),
      },
    });
  }

  async delete(path: string): Promise<void> {
    await this.#send({ method: 'DELETE', path });
  }

  /** Sends a small request as JSON. */
  async postJson(path: string, body: object): Promise<unknown> {
    return await this.post({ path, body: encodeBody(body, 'json') });
  }

  /** Sends a request to another start of the server; it is to be refused. */
  async postAs(path: string, body: object, incarnation: string): Promise<unknown> {
    const { contentType, bytes } = encodeBody(body, 'json');
    return await this.#send({
      method: 'POST',
      path,
      body: bytes,
      headers: { 'content-type': contentType, [INCARNATION]: incarnation },
    });
  }

  async put(path: string, body: EncodedBody): Promise<void> {
    await this.#send({
      method: 'PUT',
      path,
      body: body.bytes,
      idempotencyKey: path,
      headers: { 'content-type': body.contentType },
    });
  }

  async #send(request: HttpRequest): Promise<unknown> {
    const own = this.#incarnation;
    const headers = { ...(own !== undefined && { [INCARNATION]: own }), ...request.headers };
    const answer = await this.#http.sendForBytes({ ...request, headers });
    const where = `${this.url}${request.path}`;
    const theirs = answer.headers.get(INCARNATION) ?? undefined;
    if (own !== undefined && theirs !== undefined && own !== theirs) {
      throw new TinkerError('server', `${where} was started again; what it held is gone.`, {
        code: 'foreign-incarnation',
        status: answer.status,
      });
    }
    this.#incarnation ??= theirs;
    const { status, bytes } = answer;
    if (status >= 200 && status < 300) {
      if (bytes.length === 0) return undefined;
      try {
        const type = answer.headers.get('content-type');
        return decodeBody(`The answer of ${where}`, type, bytes, (text) =>
          parseJson(text, JSON_LIMITS),
        );
      } catch (cause) {
        const message = `${where} gave an answer that cannot be read: ${messageOf(cause)}`;
        throw new TinkerError('server', message, { status, cause });
      }
    }
    throw errorOf(where, status, new TextDecoder().decode(bytes));
  }
}

/** The error of an answer, by its body where it has one of the wire, and else by its status. */
function errorOf(where: string, status: number, text: string): TinkerError | HttpError {
  const said = fieldsIn(text);
  const message = typeof said.error === 'string' ? said.error : text.slice(0, 300);
  if (status === 408 || status === 429 || status >= 500) {
    const reason = `status ${status}: ${message}`;
    const fault = status === 429 || status === 503 ? 'overloaded' : 'failed';
    if (status === 408 || said.category !== 'user') {
      return new HttpError(fault, `${where} answered ${reason}`, {
        mayHaveRun: true,
        reason,
        status,
      });
    }
  }
  const { error: _, category: __, code: ___, field, ...fields } = said;
  const details: TinkerErrorDetails = {
    status,
    fields,
    code: codeOf(said.code, status),
    ...(typeof field === 'string' && { field }),
  };
  return new TinkerError(
    categoryOf(said.category),
    `${where} answered ${status}: ${message}`,
    details,
  );
}

export function categoryOf(said: unknown): TinkerCategory {
  return said === 'server' || said === 'capacity' ? said : 'user';
}

export function codeOf(said: unknown, status: number): TinkerCode {
  const known = CODES.find((code) => code === said);
  if (known !== undefined) return known;
  return status === 410 ? 'unknown-future' : 'other';
}

function fieldsIn(text: string): Record<string, unknown> {
  try {
    const value = parseJson(text, { maxDepth: 16, maxValues: 100_000 });
    if (typeof value !== 'object' || value === null) return {};
    const fields = value as Record<string, unknown>;
    // Frameworks of Python put their error below `detail`.
    const { detail } = fields;
    if (typeof detail === 'string') return { error: detail, ...fields };
    return typeof detail === 'object' && detail !== null ? { ...detail, ...fields } : fields;
  } catch {
    return {};
  }
}
