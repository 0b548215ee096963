/** What goes wrong with an engine behind a network, by cause. */
import { SaccadeError } from '@saccade/core';

/**
 * - `unreachable` nobody took the request: no server, no route, no name;
 * - `timeout` no answer within the time of one try;
 * - `overloaded` the server turned the request away for now;
 * - `refused` the server will not answer such a request;
 * - `failed` the server broke under the request;
 * - `broken` the connection ended before the answer did;
 * - `garbled` the answer is not what the protocol says;
 * - `aborted` the server stopped the request, e.g. to change its weights;
 * - `retokenised` the server made other tokens of the prompt than it was given;
 * - `incapable` the server cannot do what is needed of it.
 */
export type EngineFault =
  | 'unreachable'
  | 'timeout'
  | 'overloaded'
  | 'refused'
  | 'failed'
  | 'broken'
  | 'garbled'
  | 'aborted'
  | 'retokenised'
  | 'incapable';

const transient: readonly EngineFault[] = [
  'unreachable',
  'timeout',
  'overloaded',
  'failed',
  'broken',
  'aborted',
];

export class EngineError extends SaccadeError {
  readonly fault: EngineFault;
  /** HTTP status, where there was an answer. */
  readonly status?: number;

  constructor(
    fault: EngineFault,
    message: string,
    options: { readonly status?: number; readonly cause?: unknown } = {},
  ) {
    super('engine', message, { cause: options.cause });
    this.fault = fault;
    if (options.status !== undefined) this.status = options.status;
  }

  /** Whether the same request may be answered later. */
  get isTransient(): boolean {
    return transient.includes(this.fault);
  }
}
