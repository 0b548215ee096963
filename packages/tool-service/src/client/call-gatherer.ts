/** Gathers calls that come together into one request; each has its own answer and its own end. */
import { untilAborted } from './until-aborted.ts';

/** The answer of one call of a request. */
export interface Gathered<Answer> {
  readonly value: Answer;
}

export interface CallGathererOptions<Call, Answer> {
  /** Calls of one request. */
  readonly maxBatch: number;
  /** How long the first call waits for others. */
  readonly maxWaitMs: number;
  /** Sends calls; its signal aborts when nobody waits for any of them. */
  readonly send: (
    calls: readonly Call[],
    signal: AbortSignal,
  ) => Promise<readonly Gathered<Answer>[]>;
}

interface Entry<Call, Answer> {
  readonly call: Call;
  readonly signal: AbortSignal;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

export class CallGatherer<Call, Answer> {
  readonly #options: CallGathererOptions<Call, Answer>;
  #waiting: Entry<Call, Answer>[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(options: CallGathererOptions<Call, Answer>) {
    this.#options = options;
  }

  /**
   * The answer of a call.
   *
   * @throws what `send` throws, to all calls of the request; the signal's reason if it is aborted
   */
  async send(call: Call, signal: AbortSignal): Promise<Answer> {
    const { maxBatch, maxWaitMs } = this.#options;
    const answer = new Promise<Answer>((resolve, reject) => {
      this.#waiting.push({ call, signal, resolve, reject });
    });
    if (this.#waiting.length >= maxBatch) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), maxWaitMs);
    return await untilAborted(answer, signal);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const batch = this.#waiting.filter(({ signal }) => !signal.aborted);
    this.#waiting = [];
    if (batch.length > 0) void this.#sendBatch(batch);
  }

  async #sendBatch(batch: readonly Entry<Call, Answer>[]): Promise<void> {
    const controller = new AbortController();
    const left = (): void => {
      if (batch.every(({ signal }) => signal.aborted)) controller.abort(batch[0]?.signal.reason);
    };
    for (const { signal } of batch) signal.addEventListener('abort', left, { once: true });
    try {
      const answers = await this.#options.send(
        batch.map(({ call }) => call),
        controller.signal,
      );
      for (const [index, entry] of batch.entries()) {
        const answer = answers[index];
        if (answer === undefined) entry.reject(new Error('The request has no answer to the call.'));
        else entry.resolve(answer.value);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      for (const { signal } of batch) signal.removeEventListener('abort', left);
    }
  }
}
