/** Options of a service: where it listens, what a client may do, and which app answers. */
import type { EventSink } from '@saccade/core';
import type { AccessOptions } from './access.ts';
import type { Call } from './call.ts';
import type { ClientLimitOptions } from './client-limits.ts';
import type { ServiceMetrics } from './metrics.ts';
import type { RefusalWording } from './refusal.ts';
import type { Upgrade } from './upgrades.ts';

/** Address, access and limits of a service. */
export interface ListenOptions extends Omit<AccessOptions, 'host'> {
  /** Address to listen on. Default 127.0.0.1. */
  readonly host?: string;
  /** Port to listen on. Default 0: a free one. */
  readonly port?: number;
  /** Certificate and key, for HTTPS. Default: plain HTTP. */
  readonly tls?: TlsOptions;
  /** Limits of each client. */
  readonly clients?: ClientLimitOptions;
  /** Most concurrent connections; more are closed. Default 8,192. */
  readonly maxConnections?: number;
  /** Time from the connection, or the previous answer, to the end of the headers. Default 10. */
  readonly headerSeconds?: number;
  /** Time from the first to the last byte of a request. Default 90. */
  readonly requestSeconds?: number;
  /** Time from the headers to the answer. Default: no limit, since calls may wait in a queue. */
  readonly deadlineSeconds?: number;
  /** Time in which a client has to read an answer. Default 60. */
  readonly sendSeconds?: number;
  /** Receives violations of rules, at most one event per client and rule in ten seconds. */
  readonly onEvent?: EventSink;
}

/** The identity of a service over TLS, and of whom it lets in. */
export interface TlsOptions {
  /** PEM certificate, with its chain. */
  readonly cert: string;
  /** PEM key. */
  readonly key: string;
  /** PEM certificates of authorities; with them clients must have a certificate of one (mutual TLS). */
  readonly clientCa?: string;
}

/** Options of `openService`. */
export interface OpenServiceOptions extends ListenOptions {
  /** Name of the service in metrics, `saccade_<name>_…`, and in events. */
  readonly name: string;
  /** The app that answers, from `newServiceApp`. */
  readonly app: {
    fetch(request: Request, env: { readonly call: Call }): Response | Promise<Response>;
  };
  /** Path that is answered without the token, for load balancers. Default `/health`. */
  readonly healthPath?: string;
  /** A header that may carry the token in the place of `Authorization`, in lower case. */
  readonly tokenHeader?: string;
  /** Makes the JSON of refusals. Default: `{error: {code, fact, remedy}}`. */
  readonly wording?: RefusalWording;
  /** Adds the service's own metrics. */
  readonly addMetrics?: (metrics: ServiceMetrics) => void;
  /**
   * Takes connections that become something else, such as web sockets, once they may come in. Default:
   * `upgrade` is passed over, and the request answered as any other.
   */
  readonly onUpgrade?: (upgrade: Upgrade) => void;
  /** Releases the service's resources after the last call has ended. */
  readonly dispose?: () => Promise<void>;
}
