/** Decides whether a call ended as it should, given how it was made to break. */
import { createHash } from 'node:crypto';
import type { Outcome } from '@saccade/sandbox';
import { ToolError } from '@saccade/tools';
import type { Fault } from './faulty.ts';

/** How a call was made to end: by a fault, by its caller, or well. */
export type Injected = Fault | 'cancel' | 'none';

/** How a call ended. */
export type CallEnd = { readonly outcome: Outcome } | { readonly error: unknown };

/** Thrown into a call by its caller. */
export class Cancelled extends Error {}

/** Kinds of ends, for tables. */
export function endName(end: CallEnd): string {
  if ('outcome' in end) return end.outcome.kind;
  const { error } = end;
  if (error instanceof Cancelled) return 'cancelled';
  return error instanceof ToolError ? 'ToolError' : String(error).slice(0, 100);
}

/** Digest of an outcome's kind, text, images and error type, without the resources it used. */
export function digestOf({ kind, stdout, images, error }: Outcome): string {
  const hash = createHash('sha256').update(JSON.stringify([kind, stdout, error?.type ?? '']));
  for (const { png, origin } of images) hash.update(JSON.stringify(origin ?? '')).update(png);
  return hash.digest('hex').slice(0, 16);
}

/**
 * Why an end is wrong; undefined where it is right.
 *
 * @param reference digest of the outcome of the same call without a fault; undefined where it varies
 */
export function wrongEnd(
  injected: Injected,
  end: CallEnd,
  reference: string | undefined,
): string | undefined {
  const name = endName(end);
  if (injected === 'cancel') {
    // The outcome may come before the caller leaves.
    return name === 'cancelled' || 'outcome' in end ? undefined : `${name} in place of cancelled`;
  }
  if (injected === 'none' || injected === 'crash-once') {
    if (injected === 'crash-once' && crashedAlone(end)) return undefined;
    if (!('outcome' in end)) return `${injected}: ${name}: ${String(end.error).slice(0, 300)}`;
    const isSame = reference === undefined || digestOf(end.outcome) === reference;
    return isSame ? undefined : `${injected}: another outcome than the call has without load`;
  }
  return name === 'ToolError' ? undefined : `${injected}: ${name} in place of a ToolError`;
}

/**
 * Whether a call was ended for killing its process while it was alone. One that crashes once is, where
 * a neighbor had killed its first process before it began: then its crash is the one alone.
 */
function crashedAlone(end: CallEnd): boolean {
  return 'error' in end && String(end.error).includes('It ended its process twice.');
}
