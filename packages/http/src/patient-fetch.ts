/** A fetch for calls that take long: no time limit except the caller's. Node only. */
import { Agent, fetch as undiciFetch } from 'undici';

/** A `fetch` on its own pool of connections. */
export interface PatientFetch {
  /** For the option `fetch` of `HttpClient`. */
  readonly fetch: typeof fetch;
  /** Closes its connections; in-flight requests fail. */
  dispose(): Promise<void>;
}

/** How a client trusts a server over TLS, and who it is itself. Texts are PEM. */
export interface ClientTls {
  /** Certificates of authorities in the place of the system's. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/**
 * Opens a fetch without time limits on headers and body. Node's own gives up after 300 seconds.
 *
 * @param connectSeconds  time limit of a connection attempt
 * @param tls             trust and identity for HTTPS
 */
export function patientFetch(connectSeconds = 5, tls: ClientTls = {}): PatientFetch {
  const agent = new Agent({
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: connectSeconds * 1000, ...tls },
  });
  const send = (url: string, init: object): Promise<unknown> =>
    undiciFetch(url, { ...init, dispatcher: agent });
  // undici's types and Node's types of it differ only in names.
  return { fetch: send as unknown as typeof fetch, dispose: () => agent.destroy() };
}
