/** The sandbox's own failures; what the code did wrong is an `Outcome`, never an error. */
import { SaccadeError } from '@saccade/core';

/** The sandbox itself failed: retry, or exclude the trajectory; never score it. */
export class SandboxError extends SaccadeError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('sandbox', message, options);
  }
}
