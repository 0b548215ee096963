/** What the service's protocols share. */
import type { HttpBindings } from '@hono/node-server';
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
  /** Calls under way, for the service to give up. */
  readonly calls: Set<AbortController>;
}

export type ServiceEnv = { Bindings: HttpBindings };

/** Aborts when the client goes away, the service stops, or the deadline passes. */
export function signalOf(
  { calls }: ServiceParts,
  context: Context<ServiceEnv>,
  deadlineSeconds?: number,
): AbortSignal {
  const call = new AbortController();
  calls.add(call);
  context.env.outgoing.once('close', () => calls.delete(call));
  const signals = [context.req.raw.signal, call.signal];
  if (deadlineSeconds !== undefined) signals.push(AbortSignal.timeout(deadlineSeconds * 1000));
  return AbortSignal.any(signals);
}

/** Who asks, for turns in the queue: as it calls itself, or by its address. */
export function callerOf(context: Context<ServiceEnv>): string {
  const own = context.req.header('x-saccade-caller');
  return own ?? context.env.incoming.socket.remoteAddress ?? '';
}
