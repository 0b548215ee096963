/** A session: one process behind the fork server, one execution at a time. */
import { DataError, StateError, span, spanElsewhere } from '@saccade/core';
import { SandboxError } from './errors.ts';
import type { Limits } from './limits.ts';
import type { Outcome } from './outcome.ts';
import type { Permits } from './permits.ts';
import { decodeReply, type Reply } from './reply.ts';
import { asMemoryHit, type Death, deathFrom, type End, silentOutcome } from './result.ts';
import type { ExecuteOptions, Session } from './session.ts';
import {
  type Read,
  type RefusedInput,
  readDied,
  readFailed,
  readOpened,
  readRefused,
  readResult,
} from './session-replies.ts';

/** The services that a session needs from the server that holds its process. */
export interface SessionHost {
  readonly tier: string;
  readonly limits: Limits;
  /** Executions that may run at the same time; waiting for one is not a part of any time limit. */
  readonly running: Permits;
  send(session: number, header: Readonly<Record<string, unknown>>, blobs?: Uint8Array[]): void;
  /** Whether the server still answers; it is ended if not. */
  checkAlive(): Promise<void>;
  onExecution(): void;
  /** A session's process wrote what is no reply. */
  onViolation(): void;
}

const maxCodeBytes = 1024 * 1024;
/** The server enforces the wall limit; this long after it, we ask whether it still lives. */
const graceMs = 5_000;

export interface PythonSessionOptions {
  readonly caller?: string | undefined;
  /** Names of its images, in the order in which the server gets them. */
  readonly imageNames: readonly string[];
}

export class PythonSession implements Session {
  readonly number: number;
  /** Resolves when the process is gone and its files are removed; never rejects. */
  readonly over: Promise<void>;
  readonly #host: SessionHost;
  readonly #options: PythonSessionOptions;
  readonly #opened: Promise<void>;
  #settleOpened: (error?: Error) => void = () => {};
  #settleOver: () => void = () => {};
  #settleRun: ((outcome: Outcome) => void) | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #death: Death | undefined;
  #isDisposed = false;
  #isOpen = false;
  #isMemoryHit = false;
  #cpuMs = 0;
  #startedAt = 0;

  constructor(number: number, host: SessionHost, options: PythonSessionOptions) {
    this.number = number;
    this.#host = host;
    this.#options = options;
    this.over = new Promise((resolve) => {
      this.#settleOver = resolve;
    });
    this.#opened = new Promise((resolve, reject) => {
      this.#settleOpened = (error) => (error === undefined ? resolve() : reject(error));
    });
  }

  /**
   * @throws DataError for an input that cannot be decoded
   * @throws SandboxError if the process could not be made
   */
  opened(): Promise<void> {
    return this.#opened;
  }

  execute(code: string, options: ExecuteOptions = {}): Promise<Outcome> {
    const run = this.#last.then(() => this.#execute(code, options));
    this.#last = run.catch(() => {});
    return run;
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    this.#host.send(this.number, { type: 'close' });
    await spanElsewhere('sandbox/end', () => this.over);
  }

  async #execute(code: string, options: ExecuteOptions): Promise<Outcome> {
    const { signal } = options;
    signal?.throwIfAborted();
    this.#refuseDisposed();
    const bytes = Buffer.from(code);
    if (bytes.length > maxCodeBytes) {
      const message = `The code has ${bytes.length} bytes; at most ${maxCodeBytes} are run.`;
      return silentOutcome({ kind: 'forbidden', message }, this.#host.tier);
    }
    const wait = { signal, caller: this.#options.caller };
    const acquire = () =>
      spanElsewhere('sandbox/wait for a processor', () => this.#host.running.acquire(wait));
    const release = this.#death === undefined ? await acquire() : () => {};
    try {
      if (this.#death !== undefined) return this.#deadOutcome(this.#death);
      this.#refuseDisposed();
      return await spanElsewhere('sandbox/execute', () => this.#run(bytes, options));
    } finally {
      release();
    }
  }

  #refuseDisposed(): void {
    if (!this.#isDisposed) return;
    throw new StateError('This sandbox session is disposed. Open a new one to execute code.');
  }

  #deadOutcome({ kind, message }: Death): Outcome {
    const isOurs = kind === 'infraError';
    const text = `The session is over and runs no more code. ${message}`;
    const later: Death = { kind: isOurs ? kind : 'crashed', message: text };
    return silentOutcome(later, this.#host.tier);
  }

  async #run(code: Uint8Array, { signal, wallSeconds }: ExecuteOptions): Promise<Outcome> {
    const host = this.#host;
    host.onExecution();
    const result = new Promise<Outcome>((resolve) => {
      this.#settleRun = resolve;
    });
    this.#startedAt = performance.now();
    host.send(this.number, { type: 'execute' }, [code]);
    const watch = setInterval(
      () => void host.checkAlive(),
      host.limits.wallSeconds * 1000 + graceMs,
    );
    watch.unref();
    const onAbort = (): void => host.send(this.number, { type: 'close' });
    signal?.addEventListener('abort', onAbort, { once: true });
    const timer = this.#stopAfter(wallSeconds);
    try {
      const outcome = await result;
      // A result that was on its way when the caller gave up still counts as given up.
      if (signal?.aborted) {
        await this.over;
        throw signal.reason;
      }
      return outcome;
    } finally {
      this.#settleRun = undefined;
      clearInterval(watch);
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  /** Our own clock for a shorter limit than the server's; a result that is here by then counts. */
  #stopAfter(seconds: number | undefined): NodeJS.Timeout | undefined {
    if (seconds === undefined || seconds >= this.#host.limits.wallSeconds) return undefined;
    return setTimeout(() => {
      const message = `The code was stopped after ${seconds} s. Do less in one execution.`;
      setImmediate(() => {
        if (this.#settleRun === undefined) return;
        this.#death ??= { kind: 'timeout', message };
        this.#host.send(this.number, { type: 'close' });
      });
    }, seconds * 1000);
  }

  /** Bytes that the session's process wrote, as its reply to what is under way. Never throws. */
  onReply(bytes: Uint8Array): void {
    span('sandbox/read a reply', () => this.#read(bytes));
  }

  #read(bytes: Uint8Array): void {
    if (this.#death !== undefined && this.#settleRun === undefined) return;
    const reply = decodeReply(bytes, this.#host.limits);
    if (reply.kind === 'broken') this.#breakOff(reply.reason);
    else if (this.#isOpen) this.#onResult(reply);
    else this.#onStart(reply);
  }

  /** Takes the new process's report of its start: no submitted code has run in it. */
  #onStart(reply: Reply): void {
    const cpuMs = reply.kind === 'opened' ? readOpened(reply) : undefined;
    const refused = reply.kind === 'refused' ? readRefused(reply) : undefined;
    const failed = reply.kind === 'failed' ? readFailed(reply) : undefined;
    if (cpuMs !== undefined) {
      this.#cpuMs = cpuMs;
      this.#isOpen = true;
      this.#settleOpened();
    } else if (refused !== undefined) {
      this.#settleOpened(new DataError(this.#refusal(refused)));
      this.#host.send(this.number, { type: 'close' });
    } else if (failed !== undefined) {
      this.#settleOpened(new SandboxError(`The sandbox could not open a session: ${failed}.`));
      this.#host.send(this.number, { type: 'close' });
    } else this.#breakOff(`writing "${reply.kind}" at its start`);
  }

  #refusal(refused: RefusedInput): string {
    if ('video' in refused) {
      const remedy = 'Give the whole file, in a format that FFmpeg reads, within the limits';
      return `${refused.video}. ${remedy}.`;
    }
    const name = this.#options.imageNames[refused.image];
    return (
      `The image ${name} cannot be opened: ${refused.message}. Give whole PNG or JPEG ` +
      `bytes of at most ${this.#host.limits.openedPixels} pixels.`
    );
  }

  #onResult(reply: Reply): void {
    const { limits, tier } = this.#host;
    let read: Read | undefined;
    if (reply.kind === 'result') read = readResult(reply, limits, tier, this.#cpuMs);
    if (reply.kind === 'died') read = readDied(reply, limits, tier, this.#cpuMs);
    if (read === undefined || this.#settleRun === undefined) {
      this.#breakOff(`writing "${reply.kind}" that is no outcome`);
      return;
    }
    this.#cpuMs = read.cpuTotalMs;
    const outcome = this.#isMemoryHit ? asMemoryHit(read.outcome, limits) : read.outcome;
    const { kind, error, rolledBack } = outcome;
    if (kind === 'memory' && rolledBack !== true) {
      this.#death ??= { kind, message: error?.message ?? '' };
      // After a MemoryError it ends by itself; where a child was ended, it would go on without.
      if (this.#isMemoryHit) this.#host.send(this.number, { type: 'close' });
    }
    this.#isMemoryHit = false;
    this.#settleRun(outcome);
    this.#settleRun = undefined;
  }

  /**
   * Only the code itself can have written this, so its session is over; others are not affected.
   */
  #breakOff(reason: string): void {
    const end: End = { cause: 'protocol', reason, signal: 0, exitCode: 0, cpuMs: 0, maxRssKb: 0 };
    this.#die(deathFrom(end, this.#host.limits), end);
    this.#host.send(this.number, { type: 'close' });
  }

  /** The kernel ended one of its processes, because all together needed too much memory. */
  onMemoryHit(): void {
    this.#isMemoryHit = true;
  }

  /** The process is gone. */
  onEnd(end: End): void {
    // Also where our own clock ran out, on code that waited for the process that was ended.
    if (end.cause === 'memory' && this.#settleRun !== undefined) this.#death = undefined;
    this.#die(deathFrom(end, this.#host.limits), end);
    this.#settleOver();
  }

  /** There never was a process. */
  onRefusal(message: string): void {
    const fact = `The sandbox could not open a session: ${message}.`;
    this.#death ??= { kind: 'infraError', message: fact };
    this.#settleOpened(new SandboxError(fact));
    this.#settleOver();
  }

  /** The server is gone, and the process with it. */
  onServerEnd(message: string): void {
    this.#die({ kind: 'infraError', message });
    this.#settleOver();
  }

  #die(death: Death, end?: End): void {
    if (this.#death === undefined && end?.cause === 'protocol') this.#host.onViolation();
    const own = this.#death ?? death;
    this.#death = own;
    this.#settleOpened(new SandboxError(`A session ended while it was opened. ${own.message}`));
    const wallMs = performance.now() - this.#startedAt;
    const cpuMs = (end?.cpuMs ?? 0) - this.#cpuMs;
    const usage = { wallMs, cpuMs, maxRssKb: end?.maxRssKb ?? 0 };
    this.#settleRun?.(silentOutcome(own, this.#host.tier, usage));
    this.#settleRun = undefined;
  }
}
