/** A fetch for calls that take long: no time limit except the caller's. Node only. */
import { Agent, fetch as undiciFetch } from 'undici';

/** A `fetch` on its own pool of connections. */
export interface PatientFetch {
  /** For the option `fetch` of `HttpClient`. */
  readonly fetch: typeof fetch;
  /** Closes its connections; in-flight requests fail. */
  dispose(): Promise<void>;
}

/**
 * Opens a fetch without time limits on headers and body. Node's own gives up after 300 seconds.
 *
 * @param connectSeconds  time limit of a connection attempt
 */
export function patientFetch(connectSeconds = 5): PatientFetch {
  const agent = new Agent({
    headersTimeout: 0,
    bodyTimeout: 0,
    connectTimeout: connectSeconds * 1000,
  });
  const send = (url: string, init: object): Promise<unknown> =>
    undiciFetch(url, { ...init, dispatcher: agent });
  // undici's types and Node's types of it differ only in names.
  return { fetch: send as unknown as typeof fetch, dispose: () => agent.destroy() };
}
