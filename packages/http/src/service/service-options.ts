/** How a service is opened: where it listens, what it allows a client, what it answers with. */
import type { EventSink } from '@saccade/core';
import type { AccessOptions } from './access.ts';
import type { Call } from './call.ts';
import type { ClientLimitOptions } from './client-limits.ts';
import type { ServiceMetrics } from './metrics.ts';
import type { RefusalWording } from './refusal.ts';
import type { Upgrade } from './upgrades.ts';

/** Address, access and limits of a service. */
export interface ListenOptions extends Omit<AccessOptions, 'host'> {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 0: a free one. */
  readonly port?: number;
  /** Of each client. */
  readonly clients?: ClientLimitOptions;
  /** Connections at a time; more are closed. Default 8,192. */
  readonly maxConnections?: number;
  /** From a connection, or the answer before, to the end of the headers. Default 10. */
  readonly headerSeconds?: number;
  /** From the first to the last byte of a request. Default 90. */
  readonly requestSeconds?: number;
  /** From the headers to the answer. Default: none; calls may wait long for their turn. */
  readonly deadlineSeconds?: number;
  /** How long a client may take to read an answer. Default 60. */
  readonly sendSeconds?: number;
  /** Receives violations of the rules. */
  readonly onEvent?: EventSink;
}

/** A service: its app, its name, its rules. */
export interface OpenServiceOptions extends ListenOptions {
  /** Names its metrics, `saccade_<name>_…`, and its events. */
  readonly name: string;
  readonly app: {
    fetch(request: Request, env: { readonly call: Call }): Response | Promise<Response>;
  };
  /** Health is answered without the token, for load balancers; other rules hold. Default /health. */
  readonly healthPath?: string;
  /** How refusals are worded. Default `{error: {code, fact, remedy}}`. */
  readonly wording?: RefusalWording;
  /** Adds the service's own metrics. */
  readonly addMetrics?: (metrics: ServiceMetrics) => void;
  /**
   * Takes connections that become something else, such as web sockets, once they may come in. Default:
   * `upgrade` is passed over, and the request answered as any other.
   */
  readonly onUpgrade?: (upgrade: Upgrade) => void;
  /** Releases what the calls used, once they have ended. */
  readonly dispose?: () => Promise<void>;
}
