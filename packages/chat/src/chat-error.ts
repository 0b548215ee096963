/** Why a model gave no reply. */
import { SaccadeError } from '@saccade/core';

/**
 * The cause of a `ChatError`:
 *
 * - `unreachable` no connection to the server;
 * - `timeout` no complete reply, or no further piece of one, in time;
 * - `overloaded` the server turned the request away for now (429, 503);
 * - `refused` the server rejects the request: the key, the model, the messages;
 * - `failed` the server failed to handle it;
 * - `broken` the reply broke off;
 * - `empty` the reply says nothing;
 * - `garbled` what came is no reply of a chat server;
 * - `budget` the cost has reached `maxCost`: nothing was sent.
 */
export type ChatFault =
  | 'unreachable'
  | 'timeout'
  | 'overloaded'
  | 'refused'
  | 'failed'
  | 'broken'
  | 'empty'
  | 'garbled'
  | 'budget';

/** A model gave no usable reply. `isTransient` says whether a retry can help. */
export class ChatError extends SaccadeError {
  readonly fault: ChatFault;
  /** Whether the same call may succeed later. */
  readonly isTransient: boolean;
  /** The wait that the server asked for, milliseconds. */
  readonly retryAfterMs?: number;

  constructor(
    fault: ChatFault,
    message: string,
    options: { isTransient: boolean; retryAfterMs?: number; cause?: unknown },
  ) {
    super('chat', message, { cause: options.cause });
    this.fault = fault;
    this.isTransient = options.isTransient;
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs;
  }
}
