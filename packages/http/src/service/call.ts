/** One request in progress: its client, and when its handler should give up. */
import type { Context } from 'hono';
import type { Rule } from './refusal.ts';

/** One request in progress, as its handler sees it. `callOf` returns it. */
export interface Call {
  /** The client's address, or `local` if there is no connection. */
  readonly client: string;
  /** Whether the client sent the token, or none is required. */
  readonly isTrusted: boolean;
  /** Whether the service is draining, that is, about to stop. */
  readonly isDraining: () => boolean;
  /** Aborts when the client hangs up, the deadline passes, or the service stops. */
  readonly signal: AbortSignal;
  /** Aborts as soon as the service drains: a call whose body has not arrived was not started. */
  readonly bodySignal: AbortSignal;
  /**
   * Calls back once the answer is sent or the connection is lost; `isDelivered` if all was sent.
   */
  readonly onEnd: (end: (isDelivered: boolean) => void) => void;
  /** Counts and reports a violation of a rule. */
  readonly report: (rule: Rule, detail: string) => void;
  /** Pattern of the route that answered. */
  route: string;
}

/** The call of a handler's context. If the app is called directly, a call without a connection. */
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
