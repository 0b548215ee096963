/** Why an HTTP request has no usable answer, and whether the server may have acted on it. */
import { SaccadeError } from '@saccade/core';

/**
 * - `unreachable` no connection: no server, no route, no name;
 * - `timeout` no whole answer within the time of one try;
 * - `overloaded` the server turned the request away for now (429, 503);
 * - `refused` the server will not serve such a request (any other status below 500);
 * - `failed` the server broke under the request (status 500 and above);
 * - `broken` the connection ended before the answer did;
 * - `oversized` the answer has more bytes than the caller accepts;
 * - `garbled` the answer is not JSON within the limits.
 */
export type HttpFault =
  | 'unreachable'
  | 'timeout'
  | 'overloaded'
  | 'refused'
  | 'failed'
  | 'broken'
  | 'oversized'
  | 'garbled';

/** What a service of this kit says when it refuses. */
export interface RefusalBody {
  readonly code: string;
  readonly fact: string;
  readonly remedy: string;
}

export interface HttpErrorDetails {
  readonly mayHaveRun: boolean;
  /** What went wrong, without the URL. */
  readonly reason: string;
  readonly status?: number;
  readonly refusal?: RefusalBody;
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

const transient: readonly HttpFault[] = [
  'unreachable',
  'timeout',
  'overloaded',
  'failed',
  'broken',
];

export class HttpError extends SaccadeError {
  readonly fault: HttpFault;
  /** Whether the server may have acted on the request; false means that it surely did not. */
  readonly mayHaveRun: boolean;
  /** What went wrong, without the URL. */
  readonly reason: string;
  readonly status?: number;
  /** The refusal, where the server is one of ours. */
  readonly refusal?: RefusalBody;
  /** What the server asked to wait. */
  readonly retryAfterMs?: number;

  constructor(fault: HttpFault, message: string, details: HttpErrorDetails) {
    super('http', message, { cause: details.cause });
    this.fault = fault;
    this.mayHaveRun = details.mayHaveRun;
    this.reason = details.reason;
    if (details.status !== undefined) this.status = details.status;
    if (details.refusal !== undefined) this.refusal = details.refusal;
    if (details.retryAfterMs !== undefined) this.retryAfterMs = details.retryAfterMs;
  }

  /** Whether the same request may be answered later. */
  get isTransient(): boolean {
    return transient.includes(this.fault);
  }
}
