/** A server in front of a real service that fails as machines and networks do, on demand. */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * How it fails: `pass` not at all; `hang` answers nothing; `garbage` answers what no sandbox would;
 * `garbled-calls` does so except for its health; `reset` breaks connections; `refuse` does not listen;
 * `swallow` loses the answers of calls that are under way, and no others.
 */
export type Fault = 'pass' | 'hang' | 'garbage' | 'garbled-calls' | 'reset' | 'refuse' | 'swallow';

const garbage = [
  '<html>Bad gateway</html>',
  '{"status":"healthy"',
  '{"status":"healthy","tier":7}',
  'null',
  '[]',
  '{"session":"","tier":"x"}',
  '{"outcome":{"kind":"ok"}}',
  '{"outcome":null}',
  '{"session":{"toString":1}}',
  '',
];

export interface FaultyHost {
  readonly url: string;
  set(fault: Fault): Promise<void>;
  /** Sends what comes from now on to another service. */
  aim(target: string): void;
  close(): Promise<void>;
}

export async function startFaulty(first: string): Promise<FaultyHost> {
  let target = first;
  let fault: Fault = 'pass';
  let answers = 0;
  const held = new Set<ServerResponse>();
  const isGarbled = (path: string): boolean =>
    fault === 'garbage' || (fault === 'garbled-calls' && path !== '/health');
  const spoil = (response: ServerResponse): void => {
    answers += 1;
    // A half of the answers has more bytes declared than come.
    const isCut = answers % 2 === 1;
    const text = garbage[answers % garbage.length] ?? '';
    const { socket } = response;
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text) + (isCut ? 7 : 0),
    });
    response.end(text, () => {
      if (isCut) socket?.destroy();
    });
  };
  const onRequest = (incoming: IncomingMessage, response: ServerResponse): void => {
    const path = incoming.url ?? '/';
    if (fault === 'reset') {
      incoming.socket.destroy();
      return;
    }
    if (fault === 'hang') {
      held.add(response);
      return;
    }
    if (isGarbled(path) && answers % 3 === 0) {
      spoil(response);
      return;
    }
    const onward = request(
      `${target}${path}`,
      { method: incoming.method ?? 'GET', headers: { ...incoming.headers, host: hostOf(target) } },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () => {
          // It was done, and nobody hears of it.
          if (fault === 'hang' || swallowed.has(response)) {
            held.add(response);
            return;
          }
          if (fault === 'reset' || fault === 'refuse') {
            response.socket?.destroy();
            return;
          }
          if (isGarbled(path)) {
            spoil(response);
            return;
          }
          const { 'transfer-encoding': _, ...headers } = answer.headers;
          response.writeHead(answer.statusCode ?? 500, headers);
          response.end(Buffer.concat(chunks));
        });
        answer.on('error', () => response.socket?.destroy());
      },
    );
    onward.on('error', () => response.socket?.destroy());
    response.on('close', () => {
      underWay.delete(response);
      onward.destroy();
    });
    underWay.add(response);
    incoming.pipe(onward);
  };
  const underWay = new Set<ServerResponse>();
  const swallowed = new Set<ServerResponse>();
  let server = createServer(onRequest);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return {
    url: `http://127.0.0.1:${port}`,
    aim(next) {
      target = next;
    },
    async set(next) {
      const wasClosed = fault === 'refuse';
      fault = next;
      if (next === 'refuse' && !wasClosed) await stop();
      if (next === 'reset') server.closeAllConnections();
      if (next === 'swallow') for (const response of underWay) swallowed.add(response);
      if (next !== 'refuse' && wasClosed) {
        server = createServer(onRequest);
        await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
      }
      if (next !== 'hang') {
        for (const response of held) if (!swallowed.has(response)) response.socket?.destroy();
      }
    },
    close: stop,
  };
}

function hostOf(url: string): string {
  return new URL(url).host;
}
