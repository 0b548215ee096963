/** Sends raw bytes to a service, without an HTTP client that would correct them. */
import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  /** Status of the first answer; undefined if the connection was closed without one. */
  readonly status: number | undefined;
  readonly text: string;
  /** The service closed the connection. */
  readonly isClosed: boolean;
}

export interface RawOptions {
  /** How long to wait for an answer. Default 3,000. */
  readonly waitMs?: number;
}

/** Sends pieces, each after a turn of the event loop, and waits for the first complete answer. */
export function sendRaw(
  url: string,
  pieces: readonly (string | Uint8Array)[],
  { waitMs = 3_000 }: RawOptions = {},
): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const socket = open(url);
    const chunks: Buffer[] = [];
    let isClosed = false;
    const finish = (): void => {
      clearTimeout(timer);
      socket.destroy();
      const text = Buffer.concat(chunks).toString('latin1');
      const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1];
      resolve({ status: status === undefined ? undefined : Number(status), text, isClosed });
    };
    const timer = setTimeout(finish, waitMs);
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      if (isWhole(Buffer.concat(chunks))) setTimeout(finish, 5);
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      isClosed = true;
      finish();
    });
    void (async () => {
      for (const piece of pieces) {
        if (socket.destroyed) return;
        socket.write(piece);
        await new Promise((next) => setImmediate(next));
      }
    })();
  });
}

/** Opens a connection, sends some bytes, and keeps it open. */
export function holdOpen(url: string, bytes: string): Socket {
  const socket = open(url);
  socket.on('error', () => {});
  socket.write(bytes);
  return socket;
}

function open(url: string): Socket {
  const { hostname, port } = new URL(url);
  return connect(Number(port), hostname);
}

function isWhole(bytes: Buffer): boolean {
  const text = bytes.toString('latin1');
  const end = text.indexOf('\r\n\r\n');
  const length = /content-length: (\d+)/i.exec(text.slice(0, end))?.[1];
  if (end < 0 || length === undefined) return end >= 0 && /\r\n0\r\n\r\n$/.test(text);
  return bytes.length >= end + 4 + Number(length);
}
