/** OpenEnv's web socket: one connection, one environment, one message answered after another. */
import { messageOf, SaccadeError } from '@saccade/core';
import { JsonError, parseJson } from '@saccade/http';
import type { Sessions, Upgrade } from '@saccade/http/service';
import { type WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import type { ServedEnvironments } from './environments.ts';
import { Episode } from './episode.ts';
import { noMcp } from './no-mcp.ts';
import { actionSchema, resetSchema, type WireAnswer, type WireState } from './wire.ts';

export interface WebSocketParts {
  readonly served: ServedEnvironments;
  readonly sessions: Sessions<Episode>;
  readonly maxSessions: number;
  readonly idleSeconds: number;
  readonly onFault: (error: unknown) => void;
}

/** OpenEnv's words for what went wrong. */
type ErrorCode =
  | 'INVALID_JSON'
  | 'UNKNOWN_TYPE'
  | 'VALIDATION_ERROR'
  | 'EXECUTION_ERROR'
  | 'CAPACITY_REACHED';

const LARGEST_MESSAGE = 8 * 2 ** 20;
/** Messages that may wait while one is answered. */
const MOST_WAITING = 16;

const messageSchema = z.looseObject({ type: z.string().default(''), data: z.unknown().optional() });

export function openWebSockets(parts: WebSocketParts): { take(upgrade: Upgrade): void } {
  const server = new WebSocketServer({
    ...{ noServer: true, maxPayload: LARGEST_MESSAGE, perMessageDeflate: false },
  });
  return {
    take({ request, socket, head, signal }) {
      const [path] = (request.url ?? '').split('?');
      if (path !== '/ws') {
        socket.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
        return;
      }
      server.handleUpgrade(request, socket, head, (webSocket) => {
        new Connection(webSocket, parts, signal).open();
      });
    },
  };
}

class Connection {
  readonly #socket: WebSocket;
  readonly #parts: WebSocketParts;
  readonly #draining: AbortSignal;
  readonly #gone = new AbortController();
  readonly #id: string;
  #waiting: Promise<void> = Promise.resolve();
  #count = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(socket: WebSocket, parts: WebSocketParts, draining: AbortSignal) {
    this.#socket = socket;
    this.#parts = parts;
    this.#draining = draining;
    this.#id = parts.sessions.newId();
  }

  open(): void {
    const { sessions, served, maxSessions } = this.#parts;
    const socket = this.#socket;
    socket.on('error', () => {});
    if (!sessions.hasRoom) {
      const more = { active_sessions: sessions.count, max_sessions: maxSessions };
      this.#sendError('CAPACITY_REACHED', `All ${maxSessions} sessions are taken.`, more);
      socket.close(1013);
      return;
    }
    sessions.add(this.#id, new Episode(this.#id, served));
    const leave = (): void => {
      // Requests in progress are answered before the socket closes.
      this.#waiting = this.#waiting.then(() => socket.close(1001, 'The service is about to stop.'));
    };
    socket.once('close', () => {
      clearTimeout(this.#idle);
      // The signal outlives this connection by far.
      this.#draining.removeEventListener('abort', leave);
      this.#gone.abort(new Error('The client hung up.'));
      void sessions.end(this.#id).catch(this.#parts.onFault);
    });
    socket.on('message', (raw, isBinary) => this.#enqueue(isBinary ? undefined : String(raw)));
    if (this.#draining.aborted) leave();
    else this.#draining.addEventListener('abort', leave, { once: true });
    this.#touch();
  }

  #touch(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(
      () => this.#socket.close(1001, 'Nothing was asked for too long.'),
      this.#parts.idleSeconds * 1000,
    );
    this.#idle.unref();
  }

  #enqueue(text: string | undefined): void {
    if (this.#count >= MOST_WAITING) {
      this.#socket.close(1008, 'Too many messages wait.');
      return;
    }
    this.#count++;
    clearTimeout(this.#idle);
    this.#waiting = this.#waiting
      .then(() => this.#answer(text))
      .catch((error: unknown) => this.#parts.onFault(error))
      .finally(() => {
        this.#count--;
        if (this.#count === 0) this.#touch();
      });
  }

  async #answer(text: string | undefined): Promise<void> {
    if (this.#gone.signal.aborted) return;
    let value: unknown;
    try {
      value = parseJson(text ?? '');
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      this.#sendError('INVALID_JSON', error.message);
      return;
    }
    const message = messageSchema.safeParse(value);
    if (!message.success) {
      this.#sendError('VALIDATION_ERROR', 'A message is an object with a type and data.');
      return;
    }
    const { type, data } = message.data;
    if (type === 'close') {
      this.#socket.close(1000);
      return;
    }
    if (type === 'mcp') {
      const id = (data as { readonly id?: unknown } | null | undefined)?.id;
      this.#send({ type: 'mcp', data: noMcp(id) });
      return;
    }
    if (type !== 'reset' && type !== 'step' && type !== 'state') {
      this.#sendError('UNKNOWN_TYPE', `Unknown message type: ${type.slice(0, 100)}`);
      return;
    }
    await this.#act(type, data ?? {});
  }

  async #act(type: 'reset' | 'step' | 'state', data: unknown): Promise<void> {
    const request = readRequest(type, data);
    if ('error' in request) {
      const errors = request.error.issues
        .slice(0, 8)
        .map(({ path, message }) => ({ loc: path, msg: message }));
      this.#sendError('VALIDATION_ERROR', 'Invalid message', { errors });
      return;
    }
    const { signal } = this.#gone;
    try {
      const answer = await this.#parts.sessions.use(this.#id, (episode) =>
        request.work(episode, signal),
      );
      if (answer === undefined)
        this.#sendError('EXECUTION_ERROR', 'The session is over. Connect again.');
      else this.#send({ type: type === 'state' ? 'state' : 'observation', data: answer });
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof SaccadeError)) this.#parts.onFault(error);
      this.#sendError('EXECUTION_ERROR', messageOf(error));
    }
  }

  #sendError(code: ErrorCode, message: string, more: object = {}): void {
    this.#send({ type: 'error', data: { message: message.slice(0, 2000), code, ...more } });
  }

  #send(message: object): void {
    this.#socket.send(JSON.stringify(message), () => {});
  }
}

type Request =
  | { work(episode: Episode, signal: AbortSignal): Promise<WireAnswer | WireState> }
  | { readonly error: z.ZodError };

/** The work that a message asks for, or how its data do not fit. */
function readRequest(type: 'reset' | 'step' | 'state', data: unknown): Request {
  if (type === 'state') return { work: async (episode) => episode.state };
  if (type === 'reset') {
    const wanted = resetSchema.safeParse(data);
    if (!wanted.success) return { error: wanted.error };
    return { work: (episode, signal) => episode.reset(wanted.data, signal) };
  }
  const action = actionSchema.safeParse(data);
  if (!action.success) return { error: action.error };
  return { work: async (episode, signal) => await episode.step(action.data, signal) };
}
