/** A pool of equal servers with one queue: sandboxes, judges, places for rollouts. */
import type { Agenda } from './agenda.ts';
import type { Clock } from './paced-clock.ts';
import { TimeAverage } from './time-average.ts';

/** What a pool did since its window began. */
export interface PoolReport {
  readonly servers: number;
  /** Share of the servers' time that they worked, 0 to 1. */
  readonly utilization: number;
  /** Mean and most requests that waited. */
  readonly meanQueue: number;
  readonly mostQueue: number;
  /** Mean seconds from a request to its start, over requests that started. */
  readonly meanWaitSeconds: number;
  readonly served: number;
}

interface Waiting {
  readonly since: number;
  readonly start: () => void;
}

/**
 * First come, first served, by `servers` servers. With exponential times it is M/M/c, whose means are
 * known in closed form: its test.
 */
export class Pool {
  readonly #agenda: Agenda;
  readonly #clock: Clock;
  readonly servers: number;
  readonly #queue: Waiting[] = [];
  #head = 0;
  readonly #busy: TimeAverage;
  readonly #waiting: TimeAverage;
  /** Called when a server begins or ends. */
  onBusy: () => void = () => {};
  #waitSeconds = 0;
  #started = 0;
  #served = 0;

  /**
   * @param servers at least 1; infinite where nothing ever waits
   * @param clock on which work is done, where servers may be slowed down. Default: the agenda
   */
  constructor(agenda: Agenda, servers: number, clock: Clock = agenda) {
    this.#agenda = agenda;
    this.#clock = clock;
    this.servers = servers;
    this.#busy = new TimeAverage(() => agenda.seconds);
    this.#waiting = new TimeAverage(() => agenda.seconds);
  }

  /** Servers that work. */
  get busy(): number {
    return this.#busy.value;
  }

  /** Takes a server for `seconds`, then calls `done`. */
  serve(seconds: number, done: () => void): void {
    this.take(() => {
      this.#clock.after(seconds, () => {
        this.release();
        done();
      });
    });
  }

  /** Takes a server as soon as one is free; the holder releases it. */
  take(start: () => void): void {
    if (this.#busy.value < this.servers) {
      this.#begin(this.#agenda.seconds, start);
      return;
    }
    this.#queue.push({ since: this.#agenda.seconds, start });
    this.#waiting.add(1);
  }

  release(): void {
    this.#served++;
    this.#busy.add(-1);
    const next = this.#queue[this.#head];
    if (next === undefined) {
      this.onBusy();
      return;
    }
    this.#head++;
    if (this.#head > 1024 && this.#head * 2 > this.#queue.length) {
      this.#queue.splice(0, this.#head);
      this.#head = 0;
    }
    this.#waiting.add(-1);
    this.#begin(next.since, next.start);
  }

  restart(): void {
    this.#busy.restart();
    this.#waiting.restart();
    this.#waitSeconds = 0;
    this.#started = 0;
    this.#served = 0;
  }

  get report(): PoolReport {
    return {
      servers: this.servers,
      utilization: Number.isFinite(this.servers) ? this.#busy.mean / this.servers : 0,
      meanQueue: this.#waiting.mean,
      mostQueue: this.#waiting.most,
      meanWaitSeconds: this.#started > 0 ? this.#waitSeconds / this.#started : 0,
      served: this.#served,
    };
  }

  #begin(since: number, start: () => void): void {
    this.#busy.add(1);
    this.#started++;
    this.#waitSeconds += this.#agenda.seconds - since;
    this.onBusy();
    start();
  }
}
