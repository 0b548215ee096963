import { SaccadeError } from '@saccade/core';

/** A text is no formula, or nothing that can be computed here. */
export class MathError extends SaccadeError {
  constructor(message: string) {
    super('mathematics', message);
  }
}
