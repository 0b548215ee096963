/** The parts that the service's protocols share. */
import { callOf } from '@saccade/http/service';
import type { Context } from 'hono';
import type { Limits } from '../limits.ts';
import type { Outcome } from '../outcome.ts';
import type { Sandbox } from '../session.ts';

export interface ServiceParts {
  readonly sandbox: Sandbox;
  readonly limits: Limits;
  readonly idleSeconds: number;
  /** Told of every execution that ended. */
  readonly onOutcome: (protocol: string, outcome: Outcome) => void;
}

/** Aborts when the client goes away, the service stops, or the deadline passes. */
export function signalOf(context: Context, deadlineSeconds?: number): AbortSignal {
  const { signal } = callOf(context);
  if (deadlineSeconds === undefined) return signal;
  return AbortSignal.any([signal, AbortSignal.timeout(deadlineSeconds * 1000)]);
}

/** The caller, for turns in the queue: by its own name, or else by its address. */
export function callerOf(context: Context): string {
  return context.req.header('x-saccade-caller') ?? callOf(context).client;
}
