/** Time averages of a quantity that changes at events: queue lengths, busy servers. */

/** The mean of a piecewise constant quantity over a window of time, and its maximum. */
export class TimeAverage {
  readonly #now: () => number;
  #value = 0;
  #area = 0;
  #most = 0;
  #since: number;
  #start: number;

  /** @param now seconds, never going back */
  constructor(now: () => number) {
    this.#now = now;
    this.#since = now();
    this.#start = this.#since;
  }

  get value(): number {
    return this.#value;
  }

  set(value: number): void {
    this.#settle();
    this.#value = value;
    this.#most = Math.max(this.#most, value);
  }

  add(difference: number): void {
    this.set(this.#value + difference);
  }

  /** Begins the window anew; the value stays. */
  restart(): void {
    this.#settle();
    this.#area = 0;
    this.#most = this.#value;
    this.#start = this.#now();
  }

  /** ∫ value dt over the window. */
  get area(): number {
    this.#settle();
    return this.#area;
  }

  /** ∫ value dt / seconds of the window; 0 for an empty window. */
  get mean(): number {
    const seconds = this.#now() - this.#start;
    return seconds > 0 ? this.area / seconds : 0;
  }

  get most(): number {
    return this.#most;
  }

  #settle(): void {
    const now = this.#now();
    this.#area += this.#value * (now - this.#since);
    this.#since = now;
  }
}
