/** Why a call has no outcome: always the infrastructure's fault, never the model's. */
import { SaccadeError } from '@saccade/core';

/**
 * - `full` too many calls wait for the tool already, so that nothing was started;
 * - `deadline` no outcome came within the time of the call;
 * - `left` whoever asked has hung up;
 * - `failed` the tool said that it failed, or threw;
 * - `garbled` what the tool gave is no outcome;
 * - `crashed` the tool's process died, and died again when the call was made alone;
 * - `unavailable` the tool's process cannot be started, so that nothing was started;
 * - `stopped` the service ended before the call did.
 */
export type CallFaultKind =
  | 'full'
  | 'deadline'
  | 'left'
  | 'failed'
  | 'garbled'
  | 'crashed'
  | 'unavailable'
  | 'stopped';

/** A call that ended without an outcome. */
export class CallFault extends SaccadeError {
  readonly kind: CallFaultKind;

  constructor(kind: CallFaultKind, message: string, options?: { cause?: unknown }) {
    super(`tool-${kind}`, message, options);
    this.kind = kind;
  }
}

const kinds: readonly CallFaultKind[] = [
  ...(['full', 'deadline', 'left', 'failed', 'garbled'] as const),
  ...(['crashed', 'unavailable', 'stopped'] as const),
];

/** The kind of that name; `failed` for what is none. */
export function callFaultKind(name: string | undefined): CallFaultKind {
  return kinds.find((kind) => kind === name) ?? 'failed';
}
