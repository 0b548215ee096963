/** A fetch for calls that wait long for their turn: no time limit but the caller's. Node only. */
import { Agent, fetch as undiciFetch } from 'undici';

export interface PatientFetch {
  readonly fetch: typeof fetch;
  /** Ends its connections; requests in flight fail. */
  dispose(): Promise<void>;
}

/** Node's own fetch gives up after 300 seconds; this one waits as long as the signal allows. */
export function patientFetch(connectSeconds = 5): PatientFetch {
  const agent = new Agent({
    headersTimeout: 0,
    bodyTimeout: 0,
    connectTimeout: connectSeconds * 1000,
  });
  const send = (url: string, init: object): Promise<unknown> =>
    undiciFetch(url, { ...init, dispatcher: agent });
  // undici's own types and Node's types of it differ in names alone.
  return { fetch: send as unknown as typeof fetch, dispose: () => agent.destroy() };
}
