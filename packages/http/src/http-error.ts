/** The error of an HTTP request without a usable answer. */
import { SaccadeError } from '@saccade/core';

/**
 * The cause of an `HttpError`:
 *
 * - `unreachable` no connection: no server, no route, no name;
 * - `timeout` no complete answer within the time limit of one try;
 * - `overloaded` the server turned the request away for now (429, 503);
 * - `refused` the server rejects the request (any other status below 500);
 * - `failed` the server failed to handle it (status 500 and above);
 * - `broken` the connection ended before the answer did;
 * - `oversized` the answer exceeds `maxAnswerBytes`;
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

/** The `error` object of a refusal by a service of this kit. */
export interface RefusalBody {
  /** Stable name of the cause, for programs. */
  readonly code: string;
  readonly fact: string;
  readonly remedy: string;
}

/** Fields of an `HttpError` besides its fault and message; see there. */
export interface HttpErrorDetails {
  readonly mayHaveRun: boolean;
  /** The cause in words, without the URL. */
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

/**
 * A request has no usable answer. `fault` names the cause; `mayHaveRun` decides whether it is safe
 * to send the request elsewhere.
 */
export class HttpError extends SaccadeError {
  readonly fault: HttpFault;
  /** Whether the server may have acted on the request. False only if it certainly did not. */
  readonly mayHaveRun: boolean;
  /** The cause in words, without the URL. */
  readonly reason: string;
  /** Status of the answer, if there was one. */
  readonly status?: number;
  /** The refusal, if the server uses this kit. */
  readonly refusal?: RefusalBody;
  /** How long the server asked to wait, in milliseconds. */
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

  /** Whether the same request may succeed later. */
  get isTransient(): boolean {
    return transient.includes(this.fault);
  }
}
