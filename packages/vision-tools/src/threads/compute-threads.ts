/** Runs computations that may never end in threads that are ended at a deadline. */
import { Worker } from 'node:worker_threads';
import { DeclinedError } from '../workers/vision-engine.ts';
import type { ComputeJob, ComputeReply, JobResults } from './jobs.ts';

/** The compiled thread: the same file whether this one runs from `src` or from `dist`. */
const threadUrl: URL = new URL('../../dist/threads/compute-thread.js', import.meta.url);

const maxThreads = 4;
/** A thread costs some 60 MB; it ends when nobody has used it for this long. */
const idleMs = 30_000;
const memoryMb = 512;

export interface ComputeOptions {
  /** Milliseconds that the computation may take; waiting for a free thread does not count. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal;
}

interface Idle {
  readonly worker: Worker;
  readonly timer: NodeJS.Timeout;
}

const idle: Idle[] = [];
const waiting: (() => void)[] = [];
let running = 0;

/**
 * Runs a job in a thread of its own.
 *
 * @throws DeclinedError with the job's reason, `TooLong` at the deadline, or `TooLarge` out of memory
 * @throws the signal's reason if it is aborted
 */
export async function compute<Kind extends ComputeJob['kind']>(
  job: Extract<ComputeJob, { kind: Kind }>,
  options: ComputeOptions,
): Promise<JobResults[Kind]> {
  options.signal?.throwIfAborted();
  // Whoever waits takes over the place of the job that ends, so that nobody slips in between.
  if (running >= maxThreads) await new Promise<void>((resolve) => waiting.push(resolve));
  else running++;
  try {
    options.signal?.throwIfAborted();
    const reply = await runInThread(job, options);
    if (!reply.ok) throw new DeclinedError(reply.type, reply.message);
    return reply.value as JobResults[Kind];
  } finally {
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
  }
}

function takeThread(): Worker {
  const free = idle.pop();
  if (free === undefined) {
    return new Worker(threadUrl, {
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    });
  }
  clearTimeout(free.timer);
  free.worker.ref();
  return free.worker;
}

function giveBack(worker: Worker): void {
  worker.unref();
  const timer = setTimeout(() => {
    idle.splice(
      idle.findIndex((one) => one.worker === worker),
      1,
    );
    void worker.terminate();
  }, idleMs);
  timer.unref();
  idle.push({ worker, timer });
}

function runInThread(
  job: ComputeJob,
  { deadlineMs, signal }: ComputeOptions,
): Promise<ComputeReply> {
  const worker = takeThread();
  return new Promise((resolve, reject) => {
    const settle = (isSound: boolean, end: () => void): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      worker.off('message', onMessage);
      worker.off('error', onError);
      if (isSound) giveBack(worker);
      else void worker.terminate();
      end();
    };
    const onMessage = (reply: ComputeReply): void => settle(true, () => resolve(reply));
    const onError = (error: Error & { code?: string }): void => {
      const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      const message = `It needs more than ${memoryMb} MB. Ask for something simpler.`;
      settle(false, () => reject(isMemory ? new DeclinedError('TooLarge', message) : error));
    };
    const onAbort = (): void => settle(false, () => reject(signal?.reason));
    const timer = setTimeout(() => {
      const seconds = deadlineMs / 1000;
      const message = `It was not finished after ${seconds} seconds. Ask for something simpler.`;
      settle(false, () => reject(new DeclinedError('TooLong', message)));
    }, deadlineMs);
    signal?.addEventListener('abort', onAbort, { once: true });
    worker.on('message', onMessage);
    worker.on('error', onError);
    worker.postMessage(job);
  });
}
