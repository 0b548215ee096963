/** An MCP server at a URL: streamable HTTP, each answer bounded. */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';

export interface ServerUrlOptions {
  readonly url: string;
  readonly token?: string;
  /** Longest answer. Default 64 MiB. */
  readonly maxBytes?: number;
}

export function serverUrl(options: ServerUrlOptions): StreamableHTTPClientTransport {
  const { url, token, maxBytes = 64 * 2 ** 20 } = options;
  return new StreamableHTTPClientTransport(new URL(url), {
    fetch: boundedFetch(maxBytes),
    ...(token !== undefined && { requestInit: { headers: { authorization: `Bearer ${token}` } } }),
    // A call that broke off is told at once; whoever called decides whether to call again.
    reconnectionOptions: {
      maxRetries: 0,
      initialReconnectionDelay: 1000,
      maxReconnectionDelay: 1000,
      reconnectionDelayGrowFactor: 1,
    },
  });
}

/**
 * Answers longer than the limit break off; streams beside calls are not opened, as nobody reads them. Each
 * request has a connection of its own: a kept one may be closed by the server just when a call is sent, and
 * such a call must not be repeated.
 */
function boundedFetch(maxBytes: number, baseFetch: FetchLike = fetch): FetchLike {
  return async (url, init) => {
    if (init?.method === 'GET') return new Response(null, { status: 405 });
    const headers = new Headers(init?.headers);
    headers.set('connection', 'close');
    const response = await baseFetch(url, { ...init, headers });
    if (response.body === null) return response;
    let bytes = 0;
    const counted = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(piece, controller) {
          bytes += piece.byteLength;
          if (bytes <= maxBytes) controller.enqueue(piece);
          else controller.error(new Error(`The answer has more than ${maxBytes} bytes.`));
        },
      }),
    );
    const { status, statusText } = response;
    return new Response(counted, { status, statusText, headers: response.headers });
  };
}
