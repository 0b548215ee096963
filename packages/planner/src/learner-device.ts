/** The simulated trainer: one piece of work at a time, at a speed that may change in between. */
import type { Agenda, Planned } from './agenda.ts';
import { TimeAverage } from './time-average.ts';

export class LearnerDevice {
  readonly #agenda: Agenda;
  readonly #busy: TimeAverage;
  #left = 0;
  #since = 0;
  #speed = 1;
  #done: (() => void) | undefined;
  #next: Planned | undefined;

  constructor(agenda: Agenda) {
    this.#agenda = agenda;
    this.#busy = new TimeAverage(() => agenda.seconds);
  }

  get isBusy(): boolean {
    return this.#done !== undefined;
  }

  /** Share of the window in which it worked, 0 to 1. */
  get utilization(): number {
    return this.#busy.mean;
  }

  /** @param seconds that the work takes alone */
  begin(seconds: number, done: () => void): void {
    this.#left = seconds;
    this.#since = this.#agenda.seconds;
    this.#done = done;
    this.#busy.set(1);
    this.#plan();
  }

  /** @param speed relative to working alone; above 0 */
  setSpeed(speed: number): void {
    if (speed === this.#speed) return;
    if (this.isBusy) {
      const now = this.#agenda.seconds;
      this.#left = Math.max(0, this.#left - (now - this.#since) * this.#speed);
      this.#since = now;
    }
    this.#speed = speed;
    if (this.isBusy) this.#plan();
  }

  restart(): void {
    this.#busy.restart();
  }

  #plan(): void {
    if (this.#next !== undefined) this.#next.isCancelled = true;
    this.#next = this.#agenda.after(this.#left / this.#speed, () => {
      const done = this.#done;
      this.#done = undefined;
      this.#next = undefined;
      this.#busy.set(0);
      done?.();
    });
  }
}
