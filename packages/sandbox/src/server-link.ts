/** A fork server with the sessions and pictures it holds. */
import { createHash } from 'node:crypto';
import { DataError } from '@saccade/core';
import { SandboxError } from './errors.ts';
import { ForkServer, type ForkServerOptions, type ServerIdentity } from './fork-server.ts';
import type { Limits } from './limits.ts';
import type { Permits } from './permits.ts';
import { PythonSession, type SessionHost } from './python-session.ts';
import type { End } from './result.ts';
import type { InputImage, SessionOptions } from './session.ts';
import type { Frame } from './wire.ts';

/**
 * Decoded pictures the server keeps. Few, because a fork takes time for every page the server holds:
 * with half a gigabyte of pictures a session opened at half the speed. Sessions keep what they have.
 */
const pictureBytes = 16 * 2 ** 20;
const pongMs = 10_000;

interface Picture {
  readonly id: number;
  bytes: number;
  failure?: string;
}

export interface LinkOptions {
  readonly server: ForkServerOptions;
  readonly limits: Limits;
  readonly running: Permits;
  readonly onExecution: () => void;
}

export class ServerLink implements SessionHost {
  readonly tier: string;
  readonly limits: Limits;
  readonly running: Permits;
  readonly onExecution: () => void;
  readonly #sessions = new Map<number, PythonSession>();
  /** By content, oldest use first. */
  readonly #pictures = new Map<string, Picture>();
  readonly #pictureById = new Map<number, Picture>();
  #server: ForkServer | undefined;
  #isStopping = false;
  #nextNumber = 1;
  #isRetired = false;
  #isEmptied = false;
  #nextPicture = 1;
  #pong: (() => void) | undefined;

  private constructor(options: LinkOptions) {
    this.tier = options.server.isolation.id;
    this.limits = options.limits;
    this.running = options.running;
    this.onExecution = options.onExecution;
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

  send(session: number, header: Readonly<Record<string, unknown>>, blobs?: Uint8Array[]): void {
    this.#running.send(session, header, blobs);
  }

  /** @throws DataError for a picture that cannot be decoded, SandboxError for our own failures */
  async open({ images = [], mode = 'persistent', caller }: SessionOptions): Promise<PythonSession> {
    const session = new PythonSession(this.#nextNumber++, this, caller);
    const pictures = images.map((image) => this.#place(image));
    const named = images.map(({ name }, index) => ({ name, id: pictures[index]?.id }));
    this.#sessions.set(session.number, session);
    this.send(session.number, { type: 'open', images: named, mode });
    if (!this.#running.isAlive) session.onServerEnd('The sandbox’s server is gone.');
    try {
      await session.opened();
    } catch (error) {
      this.#sessions.delete(session.number);
      this.#stopIfEmpty();
      const index = pictures.findIndex((picture) => picture.failure !== undefined);
      const failure = pictures[index]?.failure;
      if (failure === undefined) throw error;
      throw new DataError(
        `The picture ${images[index]?.name} cannot be opened: ${failure}. Give whole PNG or JPEG ` +
          `bytes of at most ${this.limits.imagePixels} pixels.`,
      );
    }
    return session;
  }

  /** Makes sure that the server has the picture, and forgets long unused ones. */
  #place(image: InputImage): Picture {
    const key = createHash('sha1').update(image.encoded).digest('base64');
    const known = this.#pictures.get(key);
    const picture = known ?? { id: this.#nextPicture++, bytes: image.encoded.length };
    this.#pictures.delete(key);
    this.#pictures.set(key, picture);
    if (known !== undefined) return picture;
    this.#pictureById.set(picture.id, picture);
    this.send(0, { type: 'image', id: picture.id }, [image.encoded]);
    let total = 0;
    for (const { bytes } of this.#pictures.values()) total += bytes;
    for (const [oldKey, old] of this.#pictures) {
      if (total <= pictureBytes || old === picture) break;
      total -= old.bytes;
      this.#drop(oldKey, old);
    }
    return picture;
  }

  #drop(key: string, picture: Picture): void {
    this.#pictures.delete(key);
    this.#pictureById.delete(picture.id);
    this.send(0, { type: 'dropImage', id: picture.id });
  }

  #onFrame({ session: number, header, blobs }: Frame): void {
    if (number !== 0) {
      this.#sessions.get(number)?.onFrame({ session: number, header, blobs });
      return;
    }
    if (header.type === 'ended') {
      const session = this.#sessions.get(header.session as number);
      this.#sessions.delete(header.session as number);
      session?.onEnd(header as unknown as End);
      this.#stopIfEmpty();
    } else if (header.type === 'refused') {
      this.#sessions.get(header.session as number)?.onRefusal(String(header.message));
    } else if (header.type === 'image') {
      this.#onPicture(header as unknown as { id: number; bytes: number; message?: string });
    } else if (header.type === 'pong') {
      this.#pong?.();
    }
  }

  #onPicture({ id, bytes, message }: { id: number; bytes: number; message?: string }): void {
    const picture = this.#pictureById.get(id);
    if (picture === undefined) return;
    picture.bytes = bytes;
    if (message === undefined) return;
    picture.failure = message;
    for (const [key, other] of this.#pictures) if (other === picture) this.#drop(key, picture);
  }

  #onServerEnd(): void {
    const message = this.#isStopping
      ? 'The sandbox was disposed while the session was in use.'
      : 'The sandbox’s server ended unexpectedly; open a new session and try again.';
    for (const session of this.#sessions.values()) session.onServerEnd(message);
    this.#sessions.clear();
    this.#pictures.clear();
    this.#pictureById.clear();
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
