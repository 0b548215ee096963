/** Names the boundary an error crossed. */
import { messageOf, SaccadeError } from '@saccade/core';
import type { Failure } from '@saccade/trajectory';

/** The failure an error is, by where it came from; the sandbox's own errors say so themselves. */
export function failureOf(error: unknown, boundary: Failure['boundary']): Failure {
  const isSandbox = error instanceof SaccadeError && error.code === 'sandbox';
  return { boundary: isSandbox ? 'sandbox' : boundary, message: messageOf(error) };
}
