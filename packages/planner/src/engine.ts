/** A simulated rollout engine: continuous batching, whose speed depends on how many it decodes. */
import type { Agenda, Planned } from './agenda.ts';
import { DecodeQueue } from './decode-queue.ts';
import type { EngineJob, EngineRequest } from './engine-job.ts';
import { TimeAverage } from './time-average.ts';

/** The costs of one engine. */
export interface EngineCosts {
  /** Tokens per second over n sequences that are decoded together. */
  readonly decodeSpeed: (sequences: number) => number;
  readonly prefillTokensPerSecond: number;
  /** Most sequences at a time; others wait. */
  readonly maxSequences: number;
  /**
   * Passes for which new requests wait while fewer wait than run. 0 for engines that admit at once.
   */
  readonly heldPasses: number;
}

/** What an engine did since its window began. */
export interface EngineReport {
  /** Share of the time in which it had work, 0 to 1. */
  readonly busy: number;
  /** Its work over the most it could have done at its best speed, 0 to 1. */
  readonly utilization: number;
  readonly meanSequences: number;
  readonly meanWaiting: number;
  readonly decodedTokens: number;
  readonly prefilledTokens: number;
  /** Seconds that its work takes where nothing slows it down. */
  readonly workSeconds: number;
}

/**
 * Between two events its state changes linearly, so it jumps from event to event.
 *
 * Let V be the passes done so far. While n sequences decode, each gets r(n)/n tokens a second:
 *
 *   dV/dt = speed · r(n)/n,   and a sequence of k tokens that begins at V₀ ends at V₀ + k
 *
 * A prefill takes the engine whole, as many seconds as its tokens over `prefillTokensPerSecond`:
 * mixed into passes of decoding or before them, it is the same work.
 */
export class Engine {
  readonly #agenda: Agenda;
  readonly #costs: EngineCosts;
  readonly #waiting: EngineJob[] = [];
  readonly #prefills: EngineJob[] = [];
  readonly #decoding = new DecodeQueue();
  readonly #busy: TimeAverage;
  readonly #sequences: TimeAverage;
  readonly #queue: TimeAverage;
  /** Called when it gets work, or has none any more. */
  onBusy: (isBusy: boolean) => void = () => {};
  #passes = 0;
  /** Passes at which the planned event happens. */
  #target = 0;
  #since = 0;
  #speed = 1;
  /** Tokens left of the prefill under way, and of caches that new weights made void. */
  #prefillLeft = 0;
  #voidLeft = 0;
  #heldSince: number | undefined;
  #next: Planned | undefined;
  #decoded = 0;
  #prefilled = 0;
  #workSeconds = 0;
  #isBusy = false;
  #isPlanned = false;
  /** Called once nothing runs; until then, and until it resumes, nothing is admitted. */
  #drained: (() => void) | undefined;
  #isPaused = false;

  constructor(agenda: Agenda, costs: EngineCosts) {
    this.#agenda = agenda;
    this.#costs = costs;
    const now = (): number => agenda.seconds;
    this.#busy = new TimeAverage(now);
    this.#sequences = new TimeAverage(now);
    this.#queue = new TimeAverage(now);
  }

  /** Requests that are not answered. */
  get load(): number {
    return this.#waiting.length + this.#prefills.length + this.#decoding.size;
  }

  request(request: EngineRequest): EngineJob {
    this.#settle();
    const job: EngineJob = { ...request, finish: 0, state: 'waiting' };
    this.#waiting.push(job);
    // Requests of one moment are admitted together.
    if (!this.#isPlanned) {
      this.#isPlanned = true;
      this.#agenda.after(0, () => {
        this.#isPlanned = false;
        this.#settle();
        this.#plan();
      });
    }
    return job;
  }

  /** Takes a request back; what was computed of it is lost. */
  abort(job: EngineJob): void {
    if (job.state === 'over') return;
    this.#settle();
    remove(this.#waiting, job);
    if (this.#prefills[0] === job) this.#prefillLeft = 0;
    remove(this.#prefills, job);
    if (job.state === 'decode') this.#decoding.remove(job);
    job.state = 'over';
    this.#startPrefill();
    this.#plan();
  }

  /** @param speed relative to working alone; 0 stands still */
  setSpeed(speed: number): void {
    if (speed === this.#speed) return;
    this.#settle();
    this.#speed = speed;
    this.#plan();
  }

  /** New weights make the caches of running sequences void: so many tokens are computed again. */
  recompute(tokens: number): void {
    this.#settle();
    this.#voidLeft += tokens;
    this.#plan();
  }

  /** Admits nothing any more; `done` is called once all that runs has ended. */
  drain(done: () => void): void {
    this.#settle();
    this.#isPaused = true;
    this.#drained = done;
    this.#plan();
  }

  /** Admits again. */
  resume(): void {
    this.#settle();
    this.#isPaused = false;
    this.#plan();
  }

  restart(): void {
    this.#settle();
    for (const average of [this.#busy, this.#sequences, this.#queue]) average.restart();
    this.#decoded = 0;
    this.#prefilled = 0;
    this.#workSeconds = 0;
  }

  /** @param seconds of the window */
  report(seconds: number): EngineReport {
    this.#settle();
    const { decodeSpeed, maxSequences, prefillTokensPerSecond } = this.#costs;
    const peak = decodeSpeed(maxSequences);
    const needed = this.#decoded / peak + this.#prefilled / prefillTokensPerSecond;
    return {
      busy: this.#busy.mean,
      utilization: seconds > 0 ? needed / seconds : 0,
      meanSequences: this.#sequences.mean,
      meanWaiting: this.#queue.mean,
      decodedTokens: this.#decoded,
      prefilledTokens: this.#prefilled,
      workSeconds: this.#workSeconds,
    };
  }

  get #isPrefilling(): boolean {
    return this.#voidLeft > 0 || this.#prefills.length > 0;
  }

  /** Passes a second while it decodes. */
  get #passRate(): number {
    const n = this.#decoding.size;
    return n === 0 ? 0 : (this.#speed * this.#costs.decodeSpeed(n)) / n;
  }

  /** Brings its state to the present moment. */
  #settle(): void {
    const seconds = this.#agenda.seconds - this.#since;
    this.#since = this.#agenda.seconds;
    if (seconds <= 0 || this.#speed === 0) return;
    if (this.#isPrefilling || this.#decoding.size > 0) this.#workSeconds += seconds * this.#speed;
    if (this.#isPrefilling) {
      const tokens = seconds * this.#speed * this.#costs.prefillTokensPerSecond;
      const again = Math.min(tokens, this.#voidLeft);
      this.#voidLeft -= again;
      this.#prefillLeft = Math.max(0, this.#prefillLeft - (tokens - again));
      this.#prefilled += tokens;
    } else {
      const passes = seconds * this.#passRate;
      this.#passes += passes;
      this.#decoded += passes * this.#decoding.size;
    }
  }

  /** Admits what waits, and plans the next moment at which anything changes. */
  #plan(): void {
    this.#unplan();
    this.#admit();
    this.#noteDrained();
    this.#sequences.set(this.#prefills.length + this.#decoding.size);
    this.#queue.set(this.#waiting.length);
    this.#note();
    // What listens may have changed the speed, and planned an event of its own.
    this.#unplan();
    const delay = this.#untilNext();
    if (delay < Number.POSITIVE_INFINITY) {
      this.#next = this.#agenda.after(delay, () => this.#advance());
    }
  }

  #noteDrained(): void {
    if (this.#prefills.length + this.#decoding.size > 0) return;
    const drained = this.#drained;
    this.#drained = undefined;
    if (drained !== undefined) this.#agenda.after(0, drained);
  }

  #unplan(): void {
    if (this.#next !== undefined) this.#next.isCancelled = true;
    this.#next = undefined;
  }

  #note(): void {
    const isBusy = this.load > 0 || this.#voidLeft > 0;
    this.#busy.set(isBusy ? 1 : 0);
    if (isBusy === this.#isBusy) return;
    this.#isBusy = isBusy;
    this.onBusy(isBusy);
  }

  #untilNext(): number {
    if (this.#speed === 0) return Number.POSITIVE_INFINITY;
    if (this.#isPrefilling) {
      const left = this.#voidLeft > 0 ? this.#voidLeft : this.#prefillLeft;
      return left / (this.#speed * this.#costs.prefillTokensPerSecond);
    }
    const rate = this.#passRate;
    if (rate === 0) return Number.POSITIVE_INFINITY;
    const held = this.#heldSince;
    const hold = held === undefined ? Infinity : held + this.#costs.heldPasses - this.#passes;
    const passes = Math.min((this.#decoding.first?.finish ?? Infinity) - this.#passes, hold);
    this.#target = this.#passes + Math.max(0, passes);
    return Math.max(0, passes) / rate;
  }

  #advance(): void {
    this.#settle();
    this.#next = undefined;
    if (this.#isPrefilling) {
      this.#endPrefill();
    } else {
      // However short the time to it was: rounding must not make it happen again and again.
      this.#passes = Math.max(this.#passes, this.#target);
      this.#endDecodes();
    }
    this.#plan();
  }

  #endPrefill(): void {
    if (this.#voidLeft > 0) {
      // What is left is rounding: the event was planned for its end.
      this.#voidLeft = 0;
      return;
    }
    this.#prefillLeft = 0;
    const job = this.#prefills.shift();
    if (job !== undefined) {
      job.state = 'decode';
      job.finish = this.#passes + job.decodeTokens;
      this.#decoding.push(job);
      job.onBegin();
    }
    this.#startPrefill();
  }

  #startPrefill(): void {
    if (this.#prefillLeft === 0) this.#prefillLeft = this.#prefills[0]?.prefillTokens ?? 0;
  }

  #endDecodes(): void {
    for (;;) {
      const job = this.#decoding.first;
      if (job === undefined || job.finish > this.#passes + 1e-6) return;
      this.#decoding.remove(job);
      job.state = 'over';
      job.onEnd();
    }
  }

  #admit(): void {
    if (this.#isPaused) {
      this.#heldSince = undefined;
      return;
    }
    const { maxSequences, heldPasses } = this.#costs;
    const running = (): number => this.#prefills.length + this.#decoding.size;
    const isFew = this.#waiting.length > 0 && this.#waiting.length < running();
    if (heldPasses > 0 && isFew) {
      this.#heldSince ??= this.#passes;
      if (this.#passes < this.#heldSince + heldPasses - 1e-6) return;
    }
    this.#heldSince = undefined;
    while (this.#waiting.length > 0 && running() < maxSequences) {
      const job = this.#waiting.shift();
      if (job === undefined) return;
      job.state = 'prefill';
      this.#prefills.push(job);
      if (this.#prefills.length === 1) this.#startPrefill();
    }
  }
}

function remove<T>(list: T[], item: T): void {
  const at = list.indexOf(item);
  if (at >= 0) list.splice(at, 1);
}
