/** Errors of an engine behind a network, by cause. */
import { SaccadeError } from '@saccade/core';

/**
 * The cause of an `EngineError`:
 *
 * - `unreachable` no connection: no server, no route, no name;
 * - `timeout` no complete answer within the time limit of one try;
 * - `overloaded` the server turned the request away for now;
 * - `refused` the server rejects the request;
 * - `failed` the server failed to handle the request;
 * - `broken` the connection ended before the answer did;
 * - `garbled` the answer does not follow the protocol;
 * - `aborted` the server stopped the request, for example to change its weights;
 * - `retokenized` the server changed the tokens of the prompt;
 * - `incapable` the server lacks a required capability.
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
  | 'retokenized'
  | 'incapable';

const transient: readonly EngineFault[] = [
  'unreachable',
  'timeout',
  'overloaded',
  'failed',
  'broken',
  'aborted',
];

/**
 * An engine cannot be used, or did not answer a request. In a rollout it is a failure at the
 * boundary `policy`, not a reward of 0.
 */
export class EngineError extends SaccadeError {
  readonly fault: EngineFault;
  /** HTTP status, if there was an answer. */
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

  /** Whether the same request may succeed later. */
  get isTransient(): boolean {
    return transient.includes(this.fault);
  }
}

/** Whether there was no connection to the engine, or it broke. */
export function isGone(error: unknown): error is EngineError {
  return (
    error instanceof EngineError && (error.fault === 'unreachable' || error.fault === 'broken')
  );
}

/** Whether the engine takes no more for now, or does not answer in time: another may. */
export function isBusy(error: unknown): error is EngineError {
  return (
    error instanceof EngineError && (error.fault === 'overloaded' || error.fault === 'timeout')
  );
}
