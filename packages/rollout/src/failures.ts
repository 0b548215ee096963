/** Names the boundary an error crossed. */
import { messageOf, SaccadeError } from '@saccade/core';
import type { Failure } from '@saccade/trajectory';

/** Errors that say themselves where they come from. */
const OWN: readonly Failure['boundary'][] = ['sandbox', 'tool'];

/** The failure an error is, by where it came from; errors of sandbox and tools say so themselves. */
export function failureOf(error: unknown, boundary: Failure['boundary']): Failure {
  const code = error instanceof SaccadeError ? error.code : undefined;
  return { boundary: OWN.find((name) => name === code) ?? boundary, message: messageOf(error) };
}

/** Thrown into a trajectory to stop it alone; it ends as failed, with this cause. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
  readonly why: 'deadline' | 'cancelled';

  constructor(why: 'deadline' | 'cancelled', message: string) {
    super(message);
    this.why = why;
  }
}

/**
 * A call's result, or an error as soon as the signal says stop: what ignores the signal is left
 * behind, so that one tool that hangs holds up nothing but its own trajectory.
 */
export async function untilStopped<Value>(
  call: () => Promise<Value>,
  signal: AbortSignal,
): Promise<Value> {
  signal.throwIfAborted();
  let stop = (): void => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([call(), stopped]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
