/** A tool's own failures; what the model did wrong with it is an `Outcome`, never an error. */
import { SaccadeError } from '@saccade/core';

/** The tool itself broke: retry, or exclude the trajectory; never score it. */
export class ToolError extends SaccadeError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('tool', message, options);
  }
}
