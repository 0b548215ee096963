/** A fetch that writes down when each request was sent and answered, and how large it was. */

export interface Exchange {
  /** Path without the prefix of the wire: `/forward`. */
  readonly path: string;
  readonly sentBytes: number;
  readonly receivedBytes: number;
  /** Milliseconds: when the body was ready to be sent, and when the whole answer was there. */
  readonly start: number;
  readonly end: number;
}

export interface TimedFetch {
  readonly fetch: typeof fetch;
  /** Exchanges since the last call, in the order in which they began; heartbeats are left out. */
  take(): readonly Exchange[];
}

/** What a server is made to say of itself, so that a client speaks another form with it. */
export type Form = 'binary' | 'json' | 'plain';

/** Extensions that a form leaves of a server's. */
const LEFT_OUT: Readonly<Record<Form, readonly string[]>> = {
  binary: [],
  json: ['binary'],
  plain: ['binary', 'saccade/1', 'sampling'],
};

export function timedFetch(form: Form, onExchange: () => void): TimedFetch {
  let exchanges: Exchange[] = [];
  const timed: typeof fetch = async (input, init) => {
    const path = new URL(String(input)).pathname.replace('/api/v1', '');
    const start = performance.now();
    const response = await fetch(input, init);
    const bytes = new Uint8Array(await response.arrayBuffer());
    const end = performance.now();
    const sentBytes = sizeOf(init?.body);
    if (!path.endsWith('heartbeat')) {
      exchanges.push({ path, sentBytes, receivedBytes: bytes.length, start, end });
    }
    onExchange();
    const body = path === '/get_server_capabilities' ? without(form, bytes) : bytes;
    const { status, headers } = response;
    return new Response(body.length === 0 ? null : body, { status, headers: plain(headers) });
  };
  return {
    fetch: timed,
    take() {
      const taken = exchanges;
      exchanges = [];
      return taken;
    },
  };
}

function sizeOf(body: RequestInit['body']): number {
  if (body instanceof Uint8Array) return body.byteLength;
  return typeof body === 'string' ? Buffer.byteLength(body) : 0;
}

/** Headers of a body that is decoded, and may be shorter now. */
function plain(headers: Headers): Headers {
  const own = new Headers(headers);
  own.delete('content-length');
  own.delete('content-encoding');
  return own;
}

function without(form: Form, bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const said = JSON.parse(new TextDecoder().decode(bytes)) as { extensions: string[] };
  const extensions = said.extensions.filter((one) => !LEFT_OUT[form].includes(one));
  return new TextEncoder().encode(JSON.stringify({ ...said, extensions }));
}
