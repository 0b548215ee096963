/**
 * Tools in processes of their own. A process that dies takes no call along but the one that killed
 * it: whatever else was running there is made again, alone, and only a call that kills a process
 * while it is alone ends as `crashed`.
 */
import { messageOf } from '@saccade/core';
import { CallFault } from '../faults.ts';
import type { DescribedTool } from '../wire.ts';
import type { OnSettled, Place, PlacedCall, PlaceEvents } from './place.ts';
import { reasonOf } from './tool-runner.ts';
import { type Death, type WorkerOptions, WorkerProcess } from './worker-process.ts';

export interface ProcessPlaceOptions
  extends Omit<WorkerOptions, 'environment' | keyof PlaceEvents>,
    PlaceEvents {
  /** The environment of each process: as many as there are. */
  readonly environments: readonly Readonly<Record<string, string>>[];
  /** Pieces of work that one process does at a time. */
  readonly concurrency: number;
  /** A call that ran too long has this long to end; then its process is ended. Default 2. */
  readonly graceSeconds?: number;
}

/** Pause before a process that could not be started is started again; it doubles. */
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 10_000;

/** Calls that are sent together. */
interface Job {
  readonly tool: string;
  readonly calls: readonly PlacedCall[];
  readonly settle: OnSettled;
  /** Indices of calls that have not ended. */
  readonly open: Set<number>;
}

/** A job that runs. */
interface Work {
  readonly job: Job;
  timer: NodeJS.Timeout;
}

/** One of the processes, and what it does. */
interface Seat {
  readonly index: number;
  worker: WorkerProcess | undefined;
  isWarm: boolean;
  /** Does one call that was there when a process died, and nothing else. */
  isAlone: boolean;
  readonly jobs: Map<number, Work>;
  /** Times in a row that it could not be started. */
  failures: number;
  problem: string | undefined;
  restart: NodeJS.Timeout | undefined;
}

/**
 * Starts the processes and resolves when all have opened their tools; they warm up afterwards.
 *
 * @throws ConfigError for tools or settings that there are not, MissingError if they do not start
 */
export async function openProcessPlace(options: ProcessPlaceOptions): Promise<Place> {
  const place = new ProcessPlace(options);
  try {
    await place.start();
    return place;
  } catch (error) {
    await place.dispose();
    throw error;
  }
}

class ProcessPlace implements Place {
  readonly name: string;
  readonly slots: number;
  readonly #options: ProcessPlaceOptions;
  readonly #seats: readonly Seat[];
  readonly #jobs: Job[] = [];
  /** Calls that were running when a process died: each is made again, alone. */
  readonly #suspects: Job[] = [];
  #tools: readonly DescribedTool[] = [];
  #nextId = 1;
  #isDisposed = false;

  constructor(options: ProcessPlaceOptions) {
    this.#options = options;
    this.name = options.name;
    this.slots = options.environments.length * options.concurrency;
    this.#seats = options.environments.map((_, index) => ({
      ...{ index, worker: undefined, isWarm: false, isAlone: false, jobs: new Map(), failures: 0 },
      ...{ problem: 'Its tools are warming up.', restart: undefined },
    }));
  }

  get #graceMs(): number {
    return (this.#options.graceSeconds ?? 2) * 1000;
  }

  get tools(): readonly DescribedTool[] {
    return this.#tools;
  }

  /** Process ids, for tests and load. */
  get pids(): readonly number[] {
    return this.#seats.flatMap(({ worker }) => worker?.pid ?? []);
  }

  async start(): Promise<void> {
    const opened = this.#seats.map((seat) => this.#launch(seat).opened);
    [this.#tools = []] = await Promise.all(opened);
  }

  problem(): string | undefined {
    // One of several that starts again is no reason to send callers away.
    if (this.#seats.some(({ isWarm }) => isWarm)) return undefined;
    const seat = this.#seats.find(({ problem }) => problem !== undefined);
    return `${this.name}: ${seat?.problem ?? 'It is starting.'}`;
  }

  async run(tool: string, calls: readonly PlacedCall[], onSettled: OnSettled): Promise<void> {
    await new Promise<void>((resolve) => {
      const job = newJob(tool, calls, (index, settled) => {
        onSettled(index, settled);
        if (job.open.size === 0) resolve();
      });
      this.#jobs.push(job);
      this.#dispatch();
    });
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    const fault = new CallFault('stopped', 'The service stopped before the call was made.');
    for (const job of [...this.#jobs.splice(0), ...this.#suspects.splice(0)]) end(job, fault);
    await Promise.all(
      this.#seats.map(async (seat) => {
        clearTimeout(seat.restart);
        await seat.worker?.close();
      }),
    );
  }

  #launch(seat: Seat): WorkerProcess {
    const { environments, name } = this.#options;
    const worker = new WorkerProcess({
      ...this.#options,
      name: environments.length === 1 ? name : `${name}-${seat.index}`,
      environment: environments[seat.index] ?? {},
    });
    seat.worker = worker;
    worker.warm.then(
      () => {
        Object.assign(seat, { isWarm: true, failures: 0, problem: undefined });
        this.#dispatch();
      },
      (error: unknown) => {
        seat.problem = messageOf(error);
      },
    );
    void worker.died.then((death) => this.#bury(seat, death));
    return worker;
  }

  /** Hands out work as long as a process has room. */
  #dispatch(): void {
    if (this.#isDisposed) return;
    dropLeft(this.#jobs);
    dropLeft(this.#suspects);
    this.#refuseUnlessAlive();
    for (const seat of this.#seats) {
      while (this.#hasRoom(seat)) {
        const isAlone = this.#suspects.length > 0 && seat.jobs.size === 0;
        const job = isAlone ? this.#suspects.shift() : this.#jobs.shift();
        if (job === undefined) break;
        seat.isAlone = isAlone;
        this.#send(seat, job);
      }
    }
  }

  #hasRoom(seat: Seat): boolean {
    if (!seat.isWarm || seat.isAlone || seat.jobs.size >= this.#options.concurrency) return false;
    // While suspects wait, the first process that is up takes nothing else: it will be idle soon.
    const first = this.#seats.find(({ isWarm }) => isWarm);
    return seat.jobs.size === 0 || this.#suspects.length === 0 || seat !== first;
  }

  /** Where no process is up and none of them starts well, waiting is in vain. */
  #refuseUnlessAlive(): void {
    const isHopeless = this.#seats.every(({ isWarm, failures }) => !isWarm && failures >= 2);
    if (!isHopeless) return;
    const message = `Its process does not start. ${this.problem() ?? ''}`;
    const fault = new CallFault('unavailable', message);
    for (const job of [...this.#jobs.splice(0), ...this.#suspects.splice(0)]) end(job, fault);
  }

  #send(seat: Seat, job: Job): void {
    const { worker } = seat;
    if (worker === undefined) return;
    const id = this.#nextId++;
    const runMs = Math.max(...job.calls.map((call) => call.runMs));
    const work: Work = { job, timer: setTimeout(() => this.#onSlow(seat, worker, id), runMs) };
    seat.jobs.set(id, work);
    const onEnded = (): void => {
      clearTimeout(work.timer);
      if (!seat.jobs.delete(id)) return;
      seat.isAlone = false;
      // A call that the process forgot would wait for ever.
      end(job, new CallFault('failed', 'It ended without an outcome.'));
      this.#dispatch();
    };
    worker.run(id, job.tool, { calls: job.calls, onSettled: job.settle, onEnded });
    for (const [index, { signal }] of job.calls.entries()) {
      signal.addEventListener('abort', () => worker.abort(id, index), { once: true });
    }
  }

  /** Work that runs too long: its own fault, or that of a neighbor that holds up the process. */
  #onSlow(seat: Seat, worker: WorkerProcess, id: number): void {
    const work = seat.jobs.get(id);
    if (work === undefined) return;
    if (seat.jobs.size === 1) {
      this.#endSlow(worker, id, work);
      return;
    }
    const block = (): void => worker.kill('blocked', 'It did not answer while it worked.');
    work.timer = setTimeout(block, this.#graceMs);
    void worker.ping().then(() => {
      clearTimeout(work.timer);
      if (seat.jobs.has(id)) this.#endSlow(worker, id, work);
    });
  }

  /** Tells a call that ran too long to end, and ends its process unless it does. */
  #endSlow(worker: WorkerProcess, id: number, work: Work): void {
    const { tool, calls } = work.job;
    const [{ runMs = 0 } = {}] = calls;
    const message = `A call of ${tool} ran for more than ${runMs / 1000} seconds`;
    const kill = (): void => worker.kill('hung', `${message}, and its process was ended.`);
    if (calls.length > 1) {
      // One of them may be the cause: they are made again, each for itself.
      kill();
      return;
    }
    end(work.job, new CallFault('deadline', `${message}.`));
    worker.abort(id, 0);
    work.timer = setTimeout(kill, this.#graceMs);
  }

  /** A process is gone: settles what it did, and starts it again. */
  #bury(seat: Seat, death: Death): void {
    const wasWarm = seat.isWarm;
    const lost = [...seat.jobs.values()];
    const wasAlone = seat.isAlone;
    Object.assign(seat, { isWarm: false, isAlone: false, worker: undefined });
    seat.jobs.clear();
    for (const work of lost) {
      clearTimeout(work.timer);
      this.#recover(work, death, wasAlone);
    }
    if (this.#isDisposed) return;
    seat.problem = death.message;
    seat.failures = wasWarm ? 0 : seat.failures + 1;
    this.#options.onRestart?.(this.name, death.cause);
    this.#options.onWarning?.(`The process ${this.name} is started again. ${death.message}`);
    const pause = wasWarm ? 0 : FIRST_PAUSE_MS * 2 ** (seat.failures - 1);
    seat.restart = setTimeout(() => this.#launch(seat), Math.min(pause, LONGEST_PAUSE_MS));
    this.#dispatch();
  }

  /** Ends the calls that a dead process left open, or queues them again. */
  #recover({ job }: Work, death: Death, wasAlone: boolean): void {
    if (this.#isDisposed) {
      end(job, new CallFault('stopped', 'The service stopped before the call was done.'));
      return;
    }
    // The call that hung is known, and no other is suspected.
    const isKnown = death.cause === 'hung';
    if (wasAlone && !isKnown) {
      end(job, new CallFault('crashed', `It ended its process twice. ${death.message}`));
      return;
    }
    const again = [...job.open].flatMap((index): readonly Job[] => {
      const call = job.calls[index];
      if (call === undefined) return [];
      return [newJob(job.tool, [call], (_, settled) => job.settle(index, settled))];
    });
    if (isKnown) this.#jobs.unshift(...again);
    else this.#suspects.push(...again);
  }
}

/** @param onSettled hears of each call once, after it is no longer open */
function newJob(tool: string, calls: readonly PlacedCall[], onSettled: OnSettled): Job {
  const open = new Set(calls.keys());
  const settle: OnSettled = (index, settled) => {
    if (open.delete(index)) onSettled(index, settled);
  };
  return { tool, calls, open, settle };
}

/** Ends all calls of a job that have not ended. */
function end(job: Job, fault: CallFault): void {
  for (const index of [...job.open]) job.settle(index, { fault });
}

/** Drops waiting work for which nobody waits. */
function dropLeft(jobs: Job[]): void {
  for (let at = jobs.length - 1; at >= 0; at--) {
    const job = jobs[at];
    if (job === undefined || !job.calls.every(({ signal }) => signal.aborted)) continue;
    jobs.splice(at, 1);
    for (const [index, { signal }] of job.calls.entries()) {
      job.settle(index, { fault: reasonOf(signal) });
    }
  }
}
