/** A clock that runs at a speed which may change: work that shares its processors is planned on it. */
import type { Agenda, Planned } from './agenda.ts';

/** Something that work can be planned on. */
export interface Clock {
  /** Plans an event after so many seconds of work. */
  after(seconds: number, run: () => void): void;
}

interface Entry {
  /** Seconds of work done by everyone when it is done. */
  readonly at: number;
  readonly run: () => void;
}

/**
 * Let W be the seconds of work that each of those under way has been given: dW/dt = speed. Work of s
 * seconds that begins at W₀ ends at W₀ + s.
 */
export class PacedClock implements Clock {
  readonly #agenda: Agenda;
  /** By when they end, the first last: there are few at a time. */
  readonly #entries: Entry[] = [];
  #work = 0;
  #since = 0;
  #speed = 1;
  #next: Planned | undefined;

  constructor(agenda: Agenda) {
    this.#agenda = agenda;
  }

  after(seconds: number, run: () => void): void {
    this.#settle();
    const at = this.#work + Math.max(0, seconds);
    const entries = this.#entries;
    // Of one moment, those that were planned first end first.
    const place = entries.findLastIndex((entry) => entry.at > at) + 1;
    entries.splice(place, 0, { at, run });
    this.#plan();
  }

  /** @param speed relative to working alone; 0 stands still */
  setSpeed(speed: number): void {
    if (speed === this.#speed) return;
    this.#settle();
    this.#speed = speed;
    this.#plan();
  }

  #settle(): void {
    const now = this.#agenda.seconds;
    this.#work += (now - this.#since) * this.#speed;
    this.#since = now;
  }

  #plan(): void {
    if (this.#next !== undefined) this.#next.isCancelled = true;
    this.#next = undefined;
    const first = this.#entries.at(-1);
    if (first === undefined || this.#speed === 0) return;
    const delay = Math.max(0, first.at - this.#work) / this.#speed;
    this.#next = this.#agenda.after(delay, () => {
      this.#settle();
      // However the seconds were rounded: it was planned for now.
      this.#work = Math.max(this.#work, first.at);
      this.#next = undefined;
      this.#entries.pop();
      this.#plan();
      first.run();
    });
  }
}
