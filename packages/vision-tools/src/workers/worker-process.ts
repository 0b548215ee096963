/** One Python process that answers one request at a time over its pipes. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { messageOf } from '@saccade/core';
import { encodeFrame, type Frame, FrameReader } from './frames.ts';
import { decodeReady, decodeReply, type Reply } from './reply.ts';

const script = fileURLToPath(new URL('../../python/worker.py', import.meta.url));
const startMs = 60_000;
const closeMs = 1000;
const logBytes = 2000;

/** The options for starting a worker. */
export interface WorkerOptions {
  /** The interpreter; it needs numpy, Pillow and OpenCV. */
  readonly python: string;
  /** Private memory of the process in MB, enforced by Linux only. */
  readonly memoryMb: number;
  /** Threads of OpenCV. */
  readonly threads: number;
  /** Images with more pixels are declined. */
  readonly maxPixels: number;
  /** Folders with further operations. */
  readonly folders: readonly string[];
  /** Files that operations read, by name. */
  readonly assets: Readonly<Record<string, string>>;
}

/** The process ended before it answered, or spoke nonsense and was killed for it. */
export class WorkerLostError extends Error {}

interface Waiting {
  resolve(frame: Frame): void;
  reject(error: WorkerLostError): void;
}

/** A worker from its start to its end. */
export class WorkerProcess {
  /** Operations that it has loaded. */
  readonly loaded: Set<string> = new Set();
  /** Resolves when it takes requests; @throws WorkerLostError if it never does */
  readonly ready: Promise<void>;
  /** Resolves when the process is gone. */
  readonly ended: Promise<void>;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #reader = new FrameReader();
  #waiting: Waiting | undefined;
  #nextId = 1;
  #log = '';
  /** Why it ended, or is about to. */
  #lost: WorkerLostError | undefined;

  constructor({ python, ...config }: WorkerOptions) {
    this.#child = spawn(python, ['-u', '-B', script, JSON.stringify(config)], {
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.ended = new Promise((resolve) => {
      this.#child.on('error', (error) => {
        this.#lose(`it cannot be started: ${error.message}.`);
        resolve();
      });
      this.#child.on('close', (code, signal) => {
        this.#lose(`it ended with ${signal ?? `code ${code}`}.${this.#lastLine()}`);
        resolve();
      });
    });
    // A broken pipe is told by the end of the process.
    this.#child.stdin.on('error', () => {});
    this.#child.stderr.on('data', (chunk: Buffer) => {
      this.#log = (this.#log + chunk.toString('utf8')).slice(-logBytes);
    });
    this.#child.stdout.on('data', (chunk: Buffer) => this.#receive(chunk));
    this.ready = this.#whenReady();
    // Whoever waits for it sees its end; without this, one that nobody waits for ends Node.
    this.ready.catch(() => {});
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /**
   * Runs an operation.
   *
   * @throws WorkerLostError if the process ends before its reply
   */
  async call(operation: string, params: object, images: readonly Uint8Array[]): Promise<Reply> {
    return await this.#exchange({ operation, params }, images, operation);
  }

  /** Loads what an operation needs. @throws WorkerLostError if the process ends before its reply */
  async warm(operation: string): Promise<Reply> {
    return await this.#exchange({ warm: operation }, [], operation);
  }

  /** Ends the process at once. */
  kill(reason: string): void {
    this.#lose(reason);
    this.#child.kill('SIGKILL');
  }

  /** Ends the process as soon as it is idle, at the latest after a second. */
  async close(): Promise<void> {
    this.#child.stdin.end();
    const timer = setTimeout(() => this.kill('it did not end when asked.'), closeMs);
    await this.ended;
    clearTimeout(timer);
  }

  async #exchange(
    header: Readonly<Record<string, unknown>>,
    blobs: readonly Uint8Array[],
    operation: string,
  ): Promise<Reply> {
    const id = this.#nextId++;
    const answer = this.#nextFrame();
    for (const piece of encodeFrame({ id, ...header }, blobs)) this.#child.stdin.write(piece);
    const frame = await answer;
    const reply = this.#understood(() => decodeReply(frame));
    if (reply.id !== id) throw this.#nonsense(`a reply to ${reply.id} instead of ${id}`);
    if (reply.kind === 'result') this.loaded.add(operation);
    return reply;
  }

  async #whenReady(): Promise<void> {
    const timer = setTimeout(() => this.kill(`it was not ready in ${startMs / 1000} s.`), startMs);
    try {
      const frame = await this.#nextFrame();
      this.#understood(() => decodeReady(frame));
    } finally {
      clearTimeout(timer);
    }
  }

  #nextFrame(): Promise<Frame> {
    return new Promise((resolve, reject) => {
      if (this.#lost !== undefined) reject(this.#lost);
      else this.#waiting = { resolve, reject };
    });
  }

  #receive(chunk: Buffer): void {
    if (this.#lost !== undefined) return;
    try {
      for (const frame of this.#reader.push(chunk)) {
        const waiting = this.#waiting;
        this.#waiting = undefined;
        if (waiting === undefined) throw new RangeError('a frame that nobody asked for');
        waiting.resolve(frame);
      }
    } catch (error) {
      this.#nonsense(messageOf(error));
    }
  }

  #understood<Value>(read: () => Value): Value {
    try {
      return read();
    } catch (error) {
      throw this.#nonsense(messageOf(error));
    }
  }

  #nonsense(what: string): WorkerLostError {
    this.kill(`it sent ${what}.`);
    return this.#lost ?? new WorkerLostError(what);
  }

  #lose(reason: string): void {
    this.#lost ??= new WorkerLostError(reason);
    this.#waiting?.reject(this.#lost);
    this.#waiting = undefined;
  }

  #lastLine(): string {
    const line = this.#log.trim().split('\n').at(-1) ?? '';
    return line === '' ? '' : ` It said: ${line.slice(0, 300)}`;
  }
}
