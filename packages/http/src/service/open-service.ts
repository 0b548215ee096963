/** Serves an app with access control, limits, deadlines, metrics, and a drain that always ends. */
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { ConfigError } from '@saccade/core';
import { openAccess } from './access.ts';
import { type Drainable, drainServer } from './drain.ts';
import { answerMalformed } from './malformed.ts';
import { plainWording } from './refusal.ts';
import { ServiceListener } from './service-listener.ts';
import type { OpenServiceOptions, TlsOptions } from './service-options.ts';
import { Upgrades } from './upgrades.ts';

/** A listening service. */
export interface Service {
  /** Its address with the actual port: `http://127.0.0.1:8800`. */
  readonly url: string;
  /**
   * Stops the service: refuses new calls and those whose body has not arrived, waits for running
   * calls up to the grace, then closes all connections. Idempotent. Default grace: 30 seconds.
   */
  drain(graceSeconds?: number): Promise<void>;
}

/**
 * Opens a service and resolves once it listens.
 *
 * @throws ConfigError if the host is not the loopback and there is no token, or the port is taken
 */
export async function openService(options: OpenServiceOptions): Promise<Service> {
  const { host = '127.0.0.1', port = 0, headerSeconds = 10, requestSeconds = 90 } = options;
  const { wording = plainWording, dispose = async () => {} } = options;
  const listener = new ServiceListener(options, openAccess({ ...options, host }));
  const { tls } = options;
  const limits = {
    headersTimeout: headerSeconds * 1000,
    requestTimeout: Math.max(requestSeconds, headerSeconds) * 1000,
    connectionsCheckingInterval: Math.min(1000, headerSeconds * 250),
    // Longer than clients keep a connection. If the service closed one while a request is on its
    // way, the client could not know whether it ran.
    keepAliveTimeout: 75_000,
  };
  const answer: Parameters<typeof createServer>[1] = (request, response) =>
    void listener.answer(request, response);
  const server =
    tls === undefined
      ? createServer(limits, answer)
      : createTlsServer({ ...limits, ...tlsServerOptions(tls) }, answer);
  server.maxConnections = options.maxConnections ?? 8192;
  server.on('drop', (address) => {
    listener.report(address?.remoteAddress ?? '', 'connections', '', 'too many connections');
  });
  const { onUpgrade } = options;
  const upgrades = new Upgrades({ listener, wording, onUpgrade: onUpgrade ?? (() => {}) });
  if (onUpgrade !== undefined) {
    server.on('upgrade', (request, socket, head) => upgrades.take(request, socket, head));
  }
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const { remoteAddress = '' } = socket as Socket;
    const rule = answerMalformed(error, socket, listener.isAnswering(socket), wording);
    if (rule !== undefined) listener.report(remoteAddress, rule, '', error.message);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, host, port)));
    server.listen(port, host, () => resolve());
  });
  const bound = (server.address() as AddressInfo).port;
  let draining: Promise<void> | undefined;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    drain(graceSeconds = 30) {
      draining ??= drainServer(server, joined(listener, upgrades), { graceSeconds, dispose });
      return draining;
    },
  };
}

function tlsServerOptions({ cert, key, clientCa }: TlsOptions) {
  const known = clientCa === undefined ? {} : { ca: clientCa, requestCert: true };
  return { cert, key, ...known, rejectUnauthorized: clientCa !== undefined };
}

/** Two that end together. */
function joined(...all: readonly Drainable[]): Drainable {
  return {
    async stopAccepting() {
      await Promise.all(all.map((one) => one.stopAccepting()));
    },
    abortCalls() {
      for (const one of all) one.abortCalls();
    },
  };
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  if (error.code !== 'EADDRINUSE') return error;
  return new ConfigError('port', `Port ${port} of ${host} is taken. Choose another with --port.`);
}
