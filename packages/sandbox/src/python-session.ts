/** A session: one process behind the fork server, one execution at a time. */
import { DataError, StateError } from '@saccade/core';
import { SandboxError } from './errors.ts';
import type { Limits } from './limits.ts';
import type { Outcome } from './outcome.ts';
import type { Permits } from './permits.ts';
import { type Death, deathFrom, type End, readResult, silentOutcome } from './result.ts';
import type { Session } from './session.ts';
import type { Frame } from './wire.ts';

/** What a session needs of the server that holds its process. */
export interface SessionHost {
  readonly tier: string;
  readonly limits: Limits;
  /** Executions that may run at the same time; waiting for one is no part of any time limit. */
  readonly running: Permits;
  send(session: number, header: Readonly<Record<string, unknown>>, blobs?: Uint8Array[]): void;
  /** Whether the server still answers; it is ended if not. */
  checkAlive(): Promise<void>;
  onExecution(): void;
}

const maxCodeBytes = 1024 * 1024;
/** The server enforces the wall limit; this long after it, we ask whether it still lives. */
const graceMs = 5_000;

export class PythonSession implements Session {
  readonly number: number;
  /** Resolves when the process is gone and its files are removed; never rejects. */
  readonly over: Promise<void>;
  readonly #host: SessionHost;
  readonly #opened: Promise<void>;
  #settleOpened: (error?: Error) => void = () => {};
  #settleOver: () => void = () => {};
  #settleRun: ((outcome: Outcome) => void) | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #death: Death | undefined;
  #isDisposed = false;
  #cpuMs = 0;
  #startedAt = 0;

  constructor(number: number, host: SessionHost) {
    this.number = number;
    this.#host = host;
    this.over = new Promise((resolve) => {
      this.#settleOver = resolve;
    });
    this.#opened = new Promise((resolve, reject) => {
      this.#settleOpened = (error) => (error === undefined ? resolve() : reject(error));
    });
  }

  /** @throws SandboxError if the process could not be made */
  opened(): Promise<void> {
    return this.#opened;
  }

  execute(code: string, options: { signal?: AbortSignal } = {}): Promise<Outcome> {
    const run = this.#last.then(() => this.#execute(code, options.signal));
    this.#last = run.catch(() => {});
    return run;
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    this.#host.send(this.number, { type: 'close' });
    await this.over;
  }

  async #execute(code: string, signal: AbortSignal | undefined): Promise<Outcome> {
    signal?.throwIfAborted();
    this.#refuseDisposed();
    const bytes = Buffer.from(code);
    if (bytes.length > maxCodeBytes) {
      const message = `The code has ${bytes.length} bytes; at most ${maxCodeBytes} are run.`;
      return silentOutcome({ kind: 'forbidden', message }, this.#host.tier);
    }
    const release = this.#death === undefined ? await this.#host.running.acquire(signal) : () => {};
    try {
      if (this.#death !== undefined) return this.#deadOutcome(this.#death);
      this.#refuseDisposed();
      return await this.#run(bytes, signal);
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

  async #run(code: Uint8Array, signal: AbortSignal | undefined): Promise<Outcome> {
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
      signal?.removeEventListener('abort', onAbort);
    }
  }

  /** A frame from the session's process. */
  onFrame(frame: Frame): void {
    if (frame.header.type === 'opened') {
      const { cpuMs } = frame.header;
      this.#cpuMs = typeof cpuMs === 'number' ? cpuMs : 0;
      this.#settleOpened();
      return;
    }
    if (frame.header.type === 'openFailed') {
      const { wrongVideo, message } = frame.header;
      if (typeof wrongVideo === 'string') {
        const remedy = 'Give the whole file, in a format that FFmpeg reads, within the limits';
        this.#settleOpened(new DataError(`${wrongVideo}. ${remedy}.`));
      }
      this.onRefusal(String(message));
      return;
    }
    const { limits, tier } = this.#host;
    const read = readResult(frame, limits, tier, this.#cpuMs);
    if (read === undefined || this.#settleRun === undefined) {
      // Only the code itself can have sent this.
      const end: End = { cause: 'protocol', signal: 0, exitCode: 0, cpuMs: 0, maxRssKb: 0 };
      this.#die(deathFrom(end, limits), end);
      this.#host.send(this.number, { type: 'close' });
      return;
    }
    this.#cpuMs = read.cpuTotalMs;
    const { kind, error } = read.outcome;
    if (kind === 'memory') this.#death ??= { kind, message: error?.message ?? '' };
    this.#settleRun(read.outcome);
    this.#settleRun = undefined;
  }

  /** The process is gone. */
  onEnd(end: End): void {
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
    this.#death ??= death;
    this.#settleOpened(new SandboxError(`A session ended while it was opened. ${death.message}`));
    const wallMs = performance.now() - this.#startedAt;
    const cpuMs = (end?.cpuMs ?? 0) - this.#cpuMs;
    const usage = { wallMs, cpuMs, maxRssKb: end?.maxRssKb ?? 0 };
    this.#settleRun?.(silentOutcome(death, this.#host.tier, usage));
    this.#settleRun = undefined;
  }
}
