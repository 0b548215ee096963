/** A proxy on the loopback that loses, doubles, cuts and holds up requests, and stands where a server died. */
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  request as send,
} from 'node:http';
import type { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomAt } from '@saccade/core';
import type { FaultPlan, NetworkFault, Place } from './fault-plan.fixture.ts';

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** What happens at a request; it ends the request's connection. */
export type Incident = Pick<Place, 'moment'> & { readonly run: () => Promise<void> };

/** Requests that come as often as time passes: their number says nothing of where a training is. */
const UNCOUNTED = /\/(retrieve_future|session_heartbeat|healthz|health)$/;

export class FaultProxy {
  /** Requests so far, polls aside. */
  count = 0;
  /** Requests before the first save: those that measure the server, and the first update. */
  countBefore = 0;
  /** Told of each counted request; what it gives happens there. */
  onRequest: (count: number) => Incident | undefined = () => undefined;
  /** Requests that the network failed, by how. */
  readonly failed: Partial<Record<NetworkFault, number>> = {};
  readonly port: number;
  readonly #network: FaultPlan['network'];
  readonly #seed: number;
  #all = 0;
  #target = 0;
  #server: Server | undefined;
  readonly #sockets = new Set<Socket>();

  private constructor(port: number, { seed, network }: Pick<FaultPlan, 'seed' | 'network'>) {
    this.port = port;
    this.#seed = seed;
    this.#network = network;
  }

  /** A proxy with a port of its own, which nobody listens at yet. */
  static async open(plan: Pick<FaultPlan, 'seed' | 'network'>): Promise<FaultProxy> {
    const holder = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => holder.once('listening', resolve));
    const { port } = holder.address() as { port: number };
    await new Promise((resolve) => holder.close(resolve));
    return new FaultProxy(port, plan);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Passes requests on to a port of this machine. */
  async up(target: number): Promise<void> {
    this.#target = target;
    if (this.#server !== undefined) return;
    const server = createServer((request, response) => {
      this.#handle(request, response).catch(() => request.socket.destroy());
    });
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    // A connection of somebody else may have the port for a moment.
    while (!(await isListening(server, this.port))) await sleep(100);
    this.#server = server;
  }

  /** Ends all connections and refuses others, as the port of a process that died does. */
  async down(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const path = (request.url ?? '').split('?')[0] ?? '';
    const incident = UNCOUNTED.test(path) ? undefined : this.onRequest(++this.count);
    if (path.endsWith('/save_weights') && this.countBefore === 0) this.countBefore = this.count;
    if (incident === undefined) {
      await this.#passed(request, response, body);
      return;
    }
    if (incident.moment !== 'before') {
      const answered = this.#forward(request, body).catch(() => undefined);
      if (incident.moment === 'after') await answered;
      else await sleep(randomAt(this.#seed, 'during', this.count).integer(25));
    }
    await incident.run();
    request.socket.destroy();
  }

  /** Passes a request on, through the network that the plan has. */
  async #passed(request: IncomingMessage, response: ServerResponse, body: Buffer): Promise<void> {
    const random = randomAt(this.#seed, 'network', this.#all++);
    const { rate, kinds } = this.#network ?? { rate: 0, kinds: [] };
    const isFailed = kinds.length > 0 && random.uniform() < rate;
    const kind = isFailed ? random.pick(kinds) : undefined;
    if (kind !== undefined) this.failed[kind] = (this.failed[kind] ?? 0) + 1;
    switch (kind) {
      case 'lost request':
        request.socket.destroy();
        return;
      case 'lost answer':
        await this.#forward(request, body);
        request.socket.destroy();
        return;
      case 'doubled':
        await this.#forward(request, body);
        break;
      case 'refused 429':
      case 'refused 503':
      case 'failed 500':
        refuse(response, Number(kind.slice(-3)));
        return;
      case 'late':
        await sleep(20 + random.integer(400));
        break;
      default:
        break;
    }
    const answer = await this.#forward(request, body);
    const { status, headers, body: bytes } = answer;
    const { 'transfer-encoding': _, connection: __, ...own } = headers;
    response.writeHead(status, { ...own, 'content-length': bytes.length });
    if (kind === 'cut answer') {
      response.write(bytes.subarray(0, bytes.length >> 1), () => request.socket.destroy());
      return;
    }
    if (kind === 'slow') {
      const piece = Math.max(1, Math.ceil(bytes.length / 8));
      for (let at = 0; at < bytes.length; at += piece) {
        response.write(bytes.subarray(at, at + piece));
        await sleep(10 + random.integer(40));
      }
    } else response.write(bytes);
    response.end();
  }

  #forward({ method, url, headers }: IncomingMessage, body: Buffer): Promise<Answer> {
    const host = `127.0.0.1:${this.#target}`;
    const { connection: _, 'transfer-encoding': __, ...own } = headers;
    return new Promise((resolve, reject) => {
      const to = {
        host: '127.0.0.1',
        port: this.#target,
        path: url,
        method,
        agent: false,
      } as const;
      const sent = send(
        { ...to, headers: { ...own, host, 'content-length': body.length } },
        (answer) => {
          buffer(answer).then(
            (bytes) =>
              resolve({ status: answer.statusCode ?? 502, headers: answer.headers, body: bytes }),
            reject,
          );
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });
  }
}

/** Whether a server could take a port. */
async function isListening(server: Server, port: number): Promise<boolean> {
  return await new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    );
    server.once('listening', () => resolve(true));
    server.listen(port, '127.0.0.1');
  });
}

function refuse(response: ServerResponse, status: number): void {
  const isBusy = status !== 500;
  const body = JSON.stringify({
    error: isBusy ? 'busy' : 'a fault of the way',
    category: isBusy ? 'capacity' : 'server',
  });
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(isBusy && { 'retry-after': '0' }),
  });
  response.end(body);
}
