/** Connections that become something else than HTTP, under the rules of the service. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { StateError } from '@saccade/core';
import type { Drainable } from './drain.ts';
import type { RefusalOptions, RefusalWording } from './refusal.ts';

/** A connection that may come in, before anything is answered. */
export interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** Bytes that came after the request. */
  readonly head: Buffer;
  /** The client's address. */
  readonly client: string;
  /** Aborts when the service drains: what runs may finish, then the connection has to end. */
  readonly signal: AbortSignal;
}

export interface UpgradesOptions {
  readonly listener: {
    admitUpgrade(request: IncomingMessage): RefusalOptions | undefined;
    leave(client: string): void;
  };
  readonly wording: RefusalWording;
  readonly onUpgrade: (upgrade: Upgrade) => void;
}

export class Upgrades implements Drainable {
  readonly #options: UpgradesOptions;
  readonly #open = new Set<Duplex>();
  readonly #draining = new AbortController();
  #onIdle: () => void = () => {};

  constructor(options: UpgradesOptions) {
    this.#options = options;
  }

  take(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { listener, wording, onUpgrade } = this.#options;
    socket.on('error', () => {});
    const refusal = listener.admitUpgrade(request);
    if (refusal !== undefined) {
      refuse(socket, refusal, wording);
      return;
    }
    const client = request.socket.remoteAddress ?? '';
    this.#open.add(socket);
    socket.once('close', () => {
      listener.leave(client);
      this.#open.delete(socket);
      if (this.#open.size === 0) this.#onIdle();
    });
    onUpgrade({ request, socket, head, client, signal: this.#draining.signal });
  }

  stopAccepting(): Promise<void> {
    this.#draining.abort(new StateError('The service is about to stop.'));
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      if (this.#open.size === 0) resolve();
    });
  }

  abortCalls(): void {
    for (const socket of this.#open) socket.destroy();
  }
}

const reasons: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  429: 'Too Many Requests',
  503: 'Service Unavailable',
};

function refuse(socket: Duplex, refusal: RefusalOptions, wording: RefusalWording): void {
  const { status, retryAfterSeconds } = refusal;
  const body = JSON.stringify(wording(refusal));
  const retry = retryAfterSeconds === undefined ? '' : `retry-after: ${retryAfterSeconds}\r\n`;
  socket.end(
    `HTTP/1.1 ${status} ${reasons[status] ?? 'Refused'}\r\n` +
      `connection: close\r\ncontent-type: application/json\r\n${retry}` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}
