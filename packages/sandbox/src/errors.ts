/** The sandbox's own failures. Mistakes of the code are an `Outcome`, never an error. */
import { SaccadeError } from '@saccade/core';

/** The sandbox itself failed: retry, or exclude the trajectory; never score it. */
export class SandboxError extends SaccadeError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('sandbox', message, options);
  }
}

/** The engine of a micro-VM failed at one step. */
export class MachineError extends SandboxError {
  readonly engine: 'firecracker' | 'qemu';
  /** The step that failed, e.g. `PUT /snapshot/load`. */
  readonly step: string;

  /** @param remedy  a sentence: what the reader can do */
  constructor(
    engine: 'firecracker' | 'qemu',
    step: string,
    fact: string,
    remedy: string,
    options?: { cause?: unknown },
  ) {
    const name = engine === 'firecracker' ? 'Firecracker' : 'QEMU';
    super(`${name}, ${step}: ${fact} ${remedy}`, options);
    this.engine = engine;
    this.step = step;
  }
}

/** A service that is being emptied takes nothing new. Nothing was started. */
export class DrainingError extends SaccadeError {
  constructor() {
    super(
      'draining',
      'This sandbox is being drained: what is open may finish, and nothing new begins.',
    );
  }
}

/** Too many calls wait already. Nothing was started, so the call can be repeated later. */
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
