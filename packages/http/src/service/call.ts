/** One request under way: who asks, and when its handler should give up. */
import type { Context } from 'hono';
import type { Rule } from './refusal.ts';

export interface Call {
  /** The client's address, or `local` where there is no connection. */
  readonly client: string;
  /** The client sent the token, or none is needed. */
  readonly isTrusted: boolean;
  /** The service is about to stop. */
  readonly isDraining: () => boolean;
  /** Aborts when the client hangs up, the deadline passes, or the service stops. */
  readonly signal: AbortSignal;
  /** Aborts as soon as the service drains: a body that has not arrived was not started. */
  readonly bodySignal: AbortSignal;
  /** Calls back once the answer is sent or the connection is gone; says whether it was sent whole. */
  readonly onEnd: (end: (isDelivered: boolean) => void) => void;
  /** Counts and reports a broken rule. */
  readonly report: (rule: Rule, detail: string) => void;
  /** Pattern of the route that answered. */
  route: string;
}

/** The call of a handler's context; one without a connection where the app is called directly. */
export function callOf(context: Context): Call {
  const { call } = (context.env ?? {}) as { readonly call?: Call };
  if (call !== undefined) return call;
  const { signal } = context.req.raw;
  return {
    client: 'local',
    isTrusted: true,
    isDraining: () => false,
    signal,
    bodySignal: signal,
    onEnd: () => {},
    report: () => {},
    route: '',
  };
}
