import { SaccadeError } from '@saccade/core';

/** A text is no statement of the formal language, or one that cannot be true. */
export class CdlError extends SaccadeError {
  constructor(message: string) {
    super('cdl', message);
  }
}
