/** Gives gradients to a server that knows only losses with names: at once, or together before a step. */
import { accumulate, type LinearPath, linearData, type PathGradient } from './gradient-path.ts';
import type { LearnerLink } from './learner-link.ts';

export class GradientLine {
  readonly #link: LearnerLink;
  readonly #path: LinearPath;
  /** Those that wait for the step: only then it is known what the server divides them by. */
  #waiting: PathGradient[] = [];

  constructor(link: LearnerLink, path: LinearPath) {
    this.#link = link;
    this.#path = path;
  }

  async add(gradient: PathGradient): Promise<void> {
    if (this.#path.perStep) this.#waiting.push(gradient);
    else await this.#send(gradient, gradient.rows.data.length);
  }

  /** Sends what waits. The weights are still those that its log-probs are of. */
  async flush(): Promise<void> {
    const total = this.#waiting.reduce((sum, { rows }) => sum + rows.data.length, 0);
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      await this.#send(next, total);
      this.#waiting.shift();
    }
  }

  /** A learner that is lost meanwhile is brought to the same weights, so the same data fit. */
  async #send(gradient: PathGradient, divisor: number): Promise<void> {
    const data = linearData(this.#path, gradient, divisor);
    await this.#link.run((model) => accumulate(model, this.#path, data));
    this.#link.journal.add((model) => accumulate(model, this.#path, data));
  }
}
