/** Why a model gave no reply. */
import { SaccadeError } from '@saccade/core';

/** A model gave no usable reply. `isTransient` says whether a retry can help. */
export class ChatError extends SaccadeError {
  /** Whether the same call may succeed later. */
  readonly isTransient: boolean;
  /** The wait that the server asked for, milliseconds. */
  readonly retryAfterMs?: number;

  constructor(
    message: string,
    options: { isTransient: boolean; retryAfterMs?: number; cause?: unknown },
  ) {
    super('chat', message, { cause: options.cause });
    this.isTransient = options.isTransient;
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs;
  }
}
