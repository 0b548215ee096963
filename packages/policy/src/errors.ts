/** Errors of sampling that a caller may want to tell apart. */
import { SaccadeError } from '@saccade/core';

/** A context leaves no room for another token. */
export class ContextOverflowError extends SaccadeError {
  /** Tokens of the context. */
  readonly tokenCount: number;
  /** The most a context may have. */
  readonly limit: number;

  constructor(message: string, tokenCount: number, limit: number) {
    super('contextOverflow', message);
    this.tokenCount = tokenCount;
    this.limit = limit;
  }
}
