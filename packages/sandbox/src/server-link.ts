/** A fork server with the sessions and images it holds. */
import { span } from '@saccade/core';
import { checkedCapture } from './capture-options.ts';
import { SandboxError } from './errors.ts';
import {
  ForkServer,
  type ForkServerOptions,
  type ServerIdentity,
  type WarmStart,
} from './fork-server.ts';
import { HeldInputs } from './held-inputs.ts';
import type { Limits } from './limits.ts';
import type { Permits } from './permits.ts';
import { PythonSession, type SessionHost } from './python-session.ts';
import { readServerMessage } from './server-messages.ts';
import type { SessionOptions } from './session.ts';
import type { Frame } from './wire.ts';

/** Encoded images the server keeps. Sessions keep what they have. */
const imageBytes = 64 * 2 ** 20;
/** Video files the server keeps, a quarter of the room that all sessions' files have. */
const videoBytes = 256 * 2 ** 20;
/** Each of either takes a descriptor of the server's. */
const mostHeld = 128;
const pongMs = 10_000;

export interface LinkOptions {
  readonly server: ForkServerOptions;
  readonly limits: Limits;
  readonly running: Permits;
  readonly onExecution: () => void;
  readonly onViolation: () => void;
}

export class ServerLink implements SessionHost {
  readonly tier: string;
  readonly limits: Limits;
  readonly running: Permits;
  readonly onExecution: () => void;
  readonly onViolation: () => void;
  readonly #sessions = new Map<number, PythonSession>();
  readonly #images: HeldInputs;
  readonly #videos: HeldInputs;
  #server: ForkServer | undefined;
  #isStopping = false;
  #nextNumber = 1;
  #isRetired = false;
  #isEmptied = false;
  #pong: (() => void) | undefined;

  private constructor(options: LinkOptions) {
    this.tier = options.server.isolation.id;
    this.limits = options.limits;
    this.running = options.running;
    this.onExecution = options.onExecution;
    this.onViolation = options.onViolation;
    const tell = (header: Readonly<Record<string, unknown>>, blobs?: Uint8Array[]): void =>
      this.send(0, header, blobs);
    const room = { mostInputs: mostHeld, tell };
    this.#images = new HeldInputs({ kind: 'image', mostBytes: imageBytes, ...room });
    this.#videos = new HeldInputs({ kind: 'video', mostBytes: videoBytes, ...room });
  }

  /** @throws SandboxError if the server does not start */
  static async start(options: LinkOptions): Promise<ServerLink> {
    const link = new ServerLink(options);
    const server = await ForkServer.start(options.server, (frame) => link.#onFrame(frame));
    link.#server = server;
    void server.ended.then(() => link.#onServerEnd());
    return link;
  }

  get #running(): ForkServer {
    if (this.#server === undefined) throw new SandboxError('The sandbox has no server yet.');
    return this.#server;
  }

  get isAlive(): boolean {
    return !this.#isStopping && this.#running.isAlive;
  }

  get pid(): number {
    return this.#running.pid;
  }

  get identity(): ServerIdentity {
    return this.#running.identity;
  }

  get sessionCount(): number {
    return this.#sessions.size;
  }

  /** Sessions opened since the start. */
  get openedCount(): number {
    return this.#nextNumber - 1;
  }

  /** Resolves when the process is gone and its files are removed. */
  get ended(): Promise<void> {
    return this.#running.ended;
  }

  /** Takes no more sessions from now on; stops when the last one is over. */
  retire(): void {
    this.#isRetired = true;
    this.#stopIfEmpty();
  }

  #stopIfEmpty(): void {
    if (!this.#isRetired || this.#isEmptied || this.#sessions.size > 0) return;
    this.#isEmptied = true;
    void this.stop();
  }

  /** Saves the server for others to start from, and ends it; see `ForkServer.freeze`. */
  async freeze(): Promise<WarmStart | undefined> {
    return await this.#running.freeze();
  }

  send(session: number, header: Readonly<Record<string, unknown>>, blobs?: Uint8Array[]): void {
    span('sandbox/send', () => this.#running.send(session, header, blobs));
  }

  /**
   * @throws ConfigError for capture options that there are not
   * @throws DataError for an image or a video that cannot be decoded
   * @throws SandboxError for our own failures
   */
  async open(options: SessionOptions): Promise<PythonSession> {
    const { images = [], videos = [], mode = 'persistent', repairs = {}, caller } = options;
    const capture = checkedCapture(options.capture);
    const imageNames = images.map(({ name }) => name);
    const session = new PythonSession(this.#nextNumber++, this, { caller, imageNames });
    const held = images.map(({ encoded }) => this.#images.place(encoded));
    const films = videos.map(({ encoded }) => this.#videos.place(encoded));
    this.#sessions.set(session.number, session);
    this.send(session.number, {
      type: 'open',
      images: images.map(({ name }, index) => ({ name, id: held[index]?.id })),
      videos: videos.map(({ name }, index) => ({ name, id: films[index]?.id })),
      mode,
      repairs,
      capture,
    });
    this.#images.trim();
    this.#videos.trim();
    if (!this.#running.isAlive) session.onServerEnd('The sandbox’s server is gone.');
    try {
      await session.opened();
    } catch (error) {
      await session.over;
      this.#sessions.delete(session.number);
      this.#stopIfEmpty();
      throw error;
    }
    return session;
  }

  #onFrame(frame: Frame): void {
    if (frame.session !== 0) {
      this.#sessions.get(frame.session)?.onReply(frame.body);
      return;
    }
    const message = readServerMessage(frame);
    if (message?.type === 'ended') {
      const session = this.#sessions.get(message.session);
      this.#sessions.delete(message.session);
      session?.onEnd(message);
      this.#stopIfEmpty();
    } else if (message?.type === 'memory') {
      this.#sessions.get(message.session)?.onMemoryHit();
    } else if (message?.type === 'refused') {
      this.#sessions.get(message.session)?.onRefusal(message.message);
    } else if (message?.type === 'pong') {
      this.#pong?.();
    }
  }

  #onServerEnd(): void {
    const message = this.#isStopping
      ? 'The sandbox was disposed while the session was in use.'
      : 'The sandbox’s server ended unexpectedly; open a new session and try again.';
    for (const session of this.#sessions.values()) session.onServerEnd(message);
    this.#sessions.clear();
    this.#images.clear();
    this.#videos.clear();
    this.#pong?.();
  }

  async checkAlive(): Promise<void> {
    if (this.#pong !== undefined || !this.isAlive) return;
    const answered = new Promise<void>((resolve) => {
      this.#pong = resolve;
    });
    let isAnswered = false;
    void answered.then(() => {
      isAnswered = true;
    });
    this.send(0, { type: 'ping', id: 0 });
    const timer = setTimeout(() => {
      // If our own loop was blocked, the answer may lie unread: let it be read first.
      setImmediate(() => setImmediate(() => isAnswered || this.#running.kill()));
    }, pongMs);
    timer.unref();
    await answered;
    clearTimeout(timer);
    this.#pong = undefined;
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#running.stop();
  }
}
