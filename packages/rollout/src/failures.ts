/** Names the boundary an error crossed. */
import { messageOf, SaccadeError } from '@saccade/core';
import type { Failure } from '@saccade/trajectory';

/** Boundaries that errors name themselves, by their code. */
const OWN: readonly Failure['boundary'][] = ['sandbox', 'tool'];

/** The failure for an error that crossed a boundary; errors of sandbox and tools name their own. */
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
 * The result of a call, or an error as soon as the signal is aborted. A call that ignores the
 * signal is abandoned, so that a tool that hangs delays only its own trajectory.
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
