/** Where operations on images run: what a tool sees of the workers. */
import { SaccadeError } from '@saccade/core';
import type { EngineImage } from './reply.ts';

/** Bounds of one call. */
export interface RunOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds that the work itself may take; waiting for a free worker does not count. */
  readonly deadlineMs: number;
}

/** The result of an operation. */
export interface EngineResult {
  /** As the operation's file says; JSON. */
  readonly result: unknown;
  readonly images: readonly EngineImage[];
  /** Milliseconds of work in the worker, by the clock and of all its threads. */
  readonly ms: number;
  readonly cpuMs: number;
}

/** Runs operations of `python/operations`. */
export interface VisionEngine {
  /**
   * Runs one operation on PNG images.
   *
   * @throws DeclinedError if it cannot do what it is asked
   * @throws ToolError if a worker fails: a defect, a crash twice, a missed deadline, too much memory
   * @throws the signal's reason if it is aborted
   */
  run(
    operation: string,
    params: object,
    images: readonly Uint8Array[],
    options: RunOptions,
  ): Promise<EngineResult>;
}

/** An operation cannot do what it is asked: an outcome for the model, not a failure. */
export class DeclinedError extends SaccadeError {
  /** The word that metrics count, such as `CannotAnswer`. */
  readonly type: string;

  constructor(type: string, message: string) {
    super('declined', message);
    this.type = type;
  }
}
