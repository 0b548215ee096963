/** Listens until it is told to stop. */
import { serve } from '@hono/node-server';
import { ConfigError } from '@saccade/core';

export interface ListenFlags {
  readonly host: string;
  readonly port: number;
}

/**
 * Serves an app until SIGINT or SIGTERM.
 *
 * @param announce what is printed once it listens
 * @throws ConfigError if the port is taken
 */
export async function listen(
  app: { readonly fetch: (request: Request) => Response | Promise<Response> },
  { host, port }: ListenFlags,
  announce: (url: string) => string,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const server = serve({ fetch: app.fetch, hostname: host, port }, (address) => {
      console.log(announce(`http://${host}:${address.port}`));
    });
    server.on('error', (error: NodeJS.ErrnoException) => reject(listenError(error, host, port)));
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => server.close(() => resolve()));
    }
  });
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  if (error.code !== 'EADDRINUSE') return error;
  return new ConfigError('port', `Port ${port} of ${host} is taken. Choose another with --port.`);
}
