/** The sandbox's own failures; what the code did wrong is an `Outcome`, never an error. */
import { SaccadeError } from '@saccade/core';

/** The sandbox itself failed: retry, or exclude the trajectory; never score it. */
export class SandboxError extends SaccadeError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('sandbox', message, options);
  }
}

/** Too many wait already: nothing was started, so the call may be made again later. */
export class QueueFullError extends SaccadeError {
  readonly waiting: number;

  constructor(waiting: number) {
    super(
      'queue-full',
      `${waiting} calls wait for the sandbox already, as many as may. Ask for fewer at a time, ` +
        'try again later, or raise maxQueued.',
    );
    this.waiting = waiting;
  }
}
