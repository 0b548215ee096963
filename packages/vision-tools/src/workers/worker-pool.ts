/**
 * A pool of Python processes. Each takes one call at a time; calls wait in one queue. A process that
 * ends, hangs past a deadline or speaks nonsense is replaced, and only its own call is affected: cut
 * off by a crash, that is tried once more.
 */
import { availableParallelism } from 'node:os';
import { messageOf, StateError } from '@saccade/core';
import { ToolError } from '@saccade/tools';
import type { Reply } from './reply.ts';
import { defaultRestartLimits, type RestartLimits, Restarts } from './restarts.ts';
import {
  DeclinedError,
  type EngineResult,
  type RunOptions,
  type VisionEngine,
} from './vision-engine.ts';
import { WorkerLostError, WorkerProcess } from './worker-process.ts';

/** Calls that may wait; more are refused. */
const maxQueued = 4096;
/** Milliseconds that an aborted call may go on, before its process is killed for it. */
const abortedMs = 2000;

/** The options for opening a pool. */
export interface WorkerPoolOptions {
  readonly python: string;
  /** Processes at most; they are started when calls come. */
  readonly workers: number;
  /** Limit per process. */
  readonly memoryMb: number;
  readonly maxPixels: number;
  readonly folders?: readonly string[];
  readonly assets?: Readonly<Record<string, string>>;
  readonly restarts?: RestartLimits;
}

/** A look at a pool, for metrics and tests. */
export interface WorkerPoolStats {
  readonly pids: readonly number[];
  readonly busy: number;
  readonly queued: number;
  /** Processes that ended without being asked, or were killed, so far. */
  readonly lost: number;
}

interface Job {
  readonly operation: string;
  readonly params: object;
  readonly images: readonly Uint8Array[];
  readonly deadlineMs: number;
  attempts: number;
  isSettled: boolean;
  settle(result: EngineResult | Error): void;
}

interface Slot {
  readonly process: WorkerProcess;
  /** Resolves when it takes calls. */
  prepared: Promise<void>;
  state: 'starting' | 'idle' | 'busy';
  job?: Job;
  /** It is ended on purpose, which is no failure. */
  isDismissed?: true;
}

/** A pool until it is disposed of. */
export class WorkerPool implements VisionEngine {
  #options: WorkerPoolOptions;
  readonly #restarts: Restarts;
  readonly #slots = new Set<Slot>();
  readonly #queue: Job[] = [];
  readonly #warmed = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #lost = 0;
  #isDisposed = false;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#restarts = new Restarts(options.restarts ?? defaultRestartLimits);
  }

  /** Raises limits to at least these; processes that run keep their memory. */
  raise({ workers, memoryMb }: Pick<WorkerPoolOptions, 'workers' | 'memoryMb'>): void {
    this.#options = {
      ...this.#options,
      workers: Math.max(workers, this.#options.workers),
      memoryMb: Math.max(memoryMb, this.#options.memoryMb),
    };
  }

  /** Adds a folder of operations, for processes that start from now on. */
  addFolder(folder: string): void {
    const folders = this.#options.folders ?? [];
    if (!folders.includes(folder))
      this.#options = { ...this.#options, folders: [...folders, folder] };
  }

  stats(): WorkerPoolStats {
    const slots = [...this.#slots];
    return {
      pids: slots.flatMap(({ process: { pid } }) => (pid === undefined ? [] : [pid])),
      busy: slots.filter(({ state }) => state === 'busy').length,
      queued: this.#queue.length,
      lost: this.#lost,
    };
  }

  async run(
    operation: string,
    params: object,
    images: readonly Uint8Array[],
    { signal, deadlineMs }: RunOptions,
  ): Promise<EngineResult> {
    if (this.#isDisposed) throw new StateError('The workers are closed. Open the tools again.');
    signal?.throwIfAborted();
    if (this.#queue.length >= maxQueued) {
      throw new ToolError(`${maxQueued} calls wait for a worker already. Ask for fewer at a time.`);
    }
    return await new Promise((resolve, reject) => {
      const abort = (): void => {
        this.#forget(job);
        job.settle(signal?.reason instanceof Error ? signal.reason : new Error('aborted'));
      };
      const job: Job = {
        ...{ operation, params, images, deadlineMs, attempts: 0, isSettled: false },
        settle(result) {
          if (job.isSettled) return;
          job.isSettled = true;
          signal?.removeEventListener('abort', abort);
          if (result instanceof Error) reject(result);
          else resolve(result);
        },
      };
      signal?.addEventListener('abort', abort, { once: true });
      this.#queue.push(job);
      this.#pump();
    });
  }

  /**
   * Starts every process and loads these operations in it, and in those that replace it.
   *
   * @throws ToolError if a process cannot be started
   */
  async warm(operations: readonly string[]): Promise<void> {
    for (const operation of operations) this.#warmed.add(operation);
    while (this.#slots.size < this.#options.workers) this.#start();
    const slots = [...this.#slots];
    const outcomes = await Promise.allSettled(
      slots.map(async (slot) => {
        await slot.prepared;
        // One that works now loads what it needs with its first call.
        if (slot.state === 'idle') await this.#load(slot);
      }),
    );
    const failed = outcomes.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') {
      throw new ToolError(`The vision workers do not start: ${messageOf(failed.reason)}`);
    }
  }

  /** Ends every process; calls that are not done fail. */
  async dispose(): Promise<void> {
    this.#isDisposed = true;
    clearTimeout(this.#timer);
    const closed = new StateError('The workers were closed before the call was done.');
    for (const job of this.#queue.splice(0)) job.settle(closed);
    for (const { job } of this.#slots) job?.settle(closed);
    await Promise.all([...this.#slots].map(({ process }) => process.close()));
  }

  /** Hands waiting calls to free processes, and starts processes while calls wait. */
  #pump(): void {
    while (!this.#isDisposed) {
      const [job] = this.#queue;
      if (job === undefined) return;
      const slot = this.#freeSlot(job.operation);
      if (slot === undefined) break;
      this.#queue.shift();
      void this.#work(slot, job);
    }
    this.#grow();
  }

  #freeSlot(operation: string): Slot | undefined {
    const idle = [...this.#slots].filter(({ state }) => state === 'idle');
    return idle.find(({ process }) => process.loaded.has(operation)) ?? idle[0];
  }

  /** Starts as many processes as calls wait for, within the pool's size and the pace of restarts. */
  #grow(): void {
    if (this.#isDisposed || this.#queue.length === 0) return;
    const now = performance.now();
    const reason = this.#restarts.broken(now);
    if (reason !== undefined) {
      if (this.#slots.size > 0) return;
      for (const job of this.#queue.splice(0)) job.settle(new ToolError(`The vision ${reason}`));
      return;
    }
    const starting = [...this.#slots].filter(({ state }) => state === 'starting').length;
    const room = this.#options.workers - this.#slots.size;
    const wanted = Math.min(room, this.#queue.length - starting);
    if (wanted <= 0) return;
    const delay = this.#restarts.delay(now);
    if (delay > 0) {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#pump(), delay);
      return;
    }
    for (let started = 0; started < wanted; started++) this.#start();
  }

  #start(): void {
    const { python, memoryMb, maxPixels, folders = [], assets = {}, workers } = this.#options;
    const threads = Math.max(1, Math.floor(availableParallelism() / workers));
    const process = new WorkerProcess({ python, memoryMb, threads, maxPixels, folders, assets });
    const slot: Slot = { process, state: 'starting', prepared: process.ready };
    this.#slots.add(slot);
    slot.prepared = process.ready.then(() => this.#load(slot));
    slot.prepared.catch((error: unknown) => this.#lose(messageOf(error)));
    void process.ended.then(() => {
      this.#slots.delete(slot);
      this.#pump();
    });
  }

  /** Loads what is to be warm in a process, which then takes calls. */
  async #load(slot: Slot): Promise<void> {
    if (slot.state === 'idle') slot.state = 'starting';
    for (const operation of this.#warmed) {
      if (slot.process.loaded.has(operation)) continue;
      const reply = await slot.process.warm(operation);
      if (reply.kind === 'result') continue;
      slot.process.kill(`it cannot load ${operation}: ${reply.message}.`);
      throw new WorkerLostError(`it cannot load ${operation}: ${reply.message}.`);
    }
    slot.state = 'idle';
    this.#pump();
  }

  #lose(reason: string): void {
    if (this.#isDisposed) return;
    this.#lost++;
    this.#restarts.failed(performance.now(), reason);
  }

  async #work(slot: Slot, job: Job): Promise<void> {
    slot.state = 'busy';
    slot.job = job;
    job.attempts++;
    const timer = setTimeout(() => {
      const seconds = job.deadlineMs / 1000;
      job.settle(new ToolError(`${job.operation} took longer than ${seconds} s and was ended.`));
      slot.process.kill(`${job.operation} took longer than ${seconds} s.`);
    }, job.deadlineMs);
    try {
      const reply = await slot.process.call(job.operation, job.params, job.images);
      slot.state = 'idle';
      this.#restarts.succeeded();
      job.settle(outcomeOf(job.operation, reply));
      // Its heap is fragmented, and OpenCV keeps what it allocated.
      if (reply.kind === 'fault' && reply.fault === 'memory') dismiss(slot, 'out of memory.');
    } catch (error) {
      if (slot.isDismissed !== true) this.#lose(messageOf(error));
      this.#retry(job, messageOf(error));
    } finally {
      clearTimeout(timer);
      delete slot.job;
      this.#pump();
    }
  }

  #retry(job: Job, reason: string): void {
    if (job.isSettled || this.#isDisposed) return;
    if (job.attempts < 2) this.#queue.unshift(job);
    else job.settle(new ToolError(`${job.operation}: its worker was lost twice: ${reason}`));
  }

  /** Lets go of an aborted call. */
  #forget(job: Job): void {
    const at = this.#queue.indexOf(job);
    if (at >= 0) this.#queue.splice(at, 1);
    const slot = [...this.#slots].find((one) => one.job === job);
    if (slot === undefined) return;
    // Most calls end within that time, and then the process stays, with the weights it has loaded.
    setTimeout(() => {
      if (slot.job === job) dismiss(slot, `${job.operation} was aborted.`);
    }, abortedMs);
  }
}

function dismiss(slot: Slot, reason: string): void {
  slot.isDismissed = true;
  slot.process.kill(reason);
}

function outcomeOf(operation: string, reply: Reply): EngineResult | Error {
  if (reply.kind === 'result') {
    const { result, images, ms, cpuMs } = reply;
    return { result, images, ms, cpuMs };
  }
  const { fault, type, message, trace } = reply;
  if (fault === 'declined') return new DeclinedError(type, message);
  const options = { cause: new Error(trace) };
  if (fault === 'memory') return new ToolError(`${operation} needs too much memory.`, options);
  return new ToolError(`${operation}: ${type}: ${message}`, options);
}
