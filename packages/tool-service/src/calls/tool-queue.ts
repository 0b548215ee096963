/** Calls of one tool that wait for their turn: bounded, in order, sent on alone or in batches. */
import type { Outcome } from '@saccade/sandbox';
import { CallFault } from '../faults.ts';
import { checkOutcome } from '../places/check-outcome.ts';
import type { OnSettled, Place, PlacedCall, Settled } from '../places/place.ts';
import { faultOf, reasonOf } from '../places/tool-runner.ts';

/** How calls of one tool are queued. */
export interface QueueLimits {
  /** Calls that may wait; more are refused. */
  readonly maxQueued: number;
  /** Calls of one piece of work. */
  readonly maxBatch: number;
  /** How long the first call of a batch waits for others. */
  readonly maxWaitMs: number;
  /** Pieces of work at a time. */
  readonly maxRunning: number;
}

export interface ToolQueueOptions {
  readonly tool: string;
  readonly place: Place;
  readonly limits: QueueLimits;
  /** Limit per image that a tool returns. */
  readonly maxPixels: number;
  /** Told the size of each piece of work. */
  readonly onBatch: (size: number) => void;
  /** Told of an outcome that came after its call was given up. */
  readonly onLate: () => void;
}

interface Entry {
  readonly call: PlacedCall;
  readonly enteredAt: number;
  resolve(outcome: Outcome): void;
  reject(fault: CallFault): void;
}

export class ToolQueue {
  readonly #options: ToolQueueOptions;
  readonly #waiting = new Set<Entry>();
  #running = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ToolQueueOptions) {
    this.#options = options;
  }

  /** Calls that wait. */
  get length(): number {
    return this.#waiting.size;
  }

  /** Pieces of work that run. */
  get running(): number {
    return this.#running;
  }

  /**
   * The outcome of a call, once it has had its turn. Ends as soon as the call's signal aborts, wherever
   * the call is; what the tool gives later is dropped.
   *
   * @throws CallFault
   */
  async run(call: PlacedCall): Promise<Outcome> {
    const { tool, limits } = this.#options;
    if (call.signal.aborted) throw reasonOf(call.signal);
    if (this.#waiting.size >= limits.maxQueued) {
      throw new CallFault('full', `${this.#waiting.size} calls wait for ${tool} already.`);
    }
    return await new Promise<Outcome>((resolve, reject) => {
      const { signal } = call;
      const leave = (): void => {
        this.#waiting.delete(entry);
        reject(reasonOf(signal));
      };
      const entry: Entry = {
        ...{ call, enteredAt: performance.now() },
        resolve: (outcome) => {
          signal.removeEventListener('abort', leave);
          if (signal.aborted) this.#options.onLate();
          else resolve(outcome);
        },
        reject: (fault) => {
          signal.removeEventListener('abort', leave);
          reject(fault);
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.add(entry);
      this.#pump();
    });
  }

  #pump(): void {
    const { maxBatch, maxRunning, maxWaitMs } = this.#options.limits;
    clearTimeout(this.#timer);
    while (this.#running < maxRunning) {
      const [first] = this.#waiting;
      if (first === undefined) return;
      const waitMs = first.enteredAt + maxWaitMs - performance.now();
      if (maxBatch > 1 && this.#waiting.size < maxBatch && waitMs > 0) {
        this.#timer = setTimeout(() => this.#pump(), waitMs);
        return;
      }
      const batch = [...take(this.#waiting, maxBatch)];
      void this.#send(batch);
    }
  }

  async #send(batch: readonly Entry[]): Promise<void> {
    const { tool, place, onBatch } = this.#options;
    this.#running += 1;
    onBatch(batch.length);
    const calls = batch.map(({ call }) => call);
    const finish: OnSettled = (index, settled) => {
      const entry = batch[index];
      if (entry !== undefined) this.#finish(entry, settled);
    };
    try {
      await place.run(tool, calls, finish);
    } catch (error) {
      for (const { reject, call } of batch) reject(faultOf(error, call.signal));
    }
    this.#running -= 1;
    this.#pump();
  }

  #finish(entry: Entry, settled: Settled): void {
    if ('fault' in settled) {
      entry.reject(settled.fault);
      return;
    }
    try {
      entry.resolve(checkOutcome(settled.outcome, this.#options.maxPixels));
    } catch (error) {
      entry.reject(faultOf(error, entry.call.signal));
    }
  }
}

/** Takes the first values out of a set. */
function* take(waiting: Set<Entry>, count: number): Generator<Entry> {
  let left = count;
  for (const entry of waiting) {
    if (left-- <= 0) return;
    waiting.delete(entry);
    yield entry;
  }
}
