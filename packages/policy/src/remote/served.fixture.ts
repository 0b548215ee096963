/** A policy service on a real socket, with faults where a test wants them. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { type PolicyServiceOptions, policyService } from '../serve/policy-service.ts';

/** Answers in the service's place, or leaves it to the service, at once or later. */
export type Fault = (
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
) => boolean | Promise<boolean>;

export interface Served {
  readonly url: string;
  /** Requests of a path so far. */
  count(path: string): number;
  /** From now on; undefined for none. */
  fault: Fault | undefined;
  /** Ends what is under way, and goes on at the same address as another process would. */
  restart(options: PolicyServiceOptions): void;
  close(): Promise<void>;
}

export async function served(options: PolicyServiceOptions): Promise<Served> {
  let listener = getRequestListener(policyService(options).fetch);
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    counts.set(path, (counts.get(path) ?? 0) + 1);
    const isTaken = own.fault?.(path, request, response) ?? false;
    if (isTaken === false) void listener(request, response);
    else if (isTaken !== true) void isTaken.then((is) => (is ? null : listener(request, response)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const own: Served = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fault: undefined,
    count: (path) => counts.get(path) ?? 0,
    restart(another) {
      listener = getRequestListener(policyService(another).fetch);
      server.closeAllConnections();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return own;
}
