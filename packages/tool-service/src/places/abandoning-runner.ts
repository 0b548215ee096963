/** Makes calls in this process, and leaves those behind that hang: nothing here could end them. */
import { CallFault } from '../faults.ts';
import type { OnSettled, PlacedCall, Settled } from './place.ts';
import { reasonOf, type ToolRunner } from './tool-runner.ts';

/** Calls that tools go on with though nobody waits; with more, no others are made. */
const MOST_ABANDONED = 64;

export class AbandoningRunner {
  readonly #runner: ToolRunner;
  #abandoned = 0;

  constructor(runner: ToolRunner) {
    this.#runner = runner;
  }

  /** Resolves once every call has ended or was left behind. */
  async run(tool: string, calls: readonly PlacedCall[], onSettled: OnSettled): Promise<void> {
    if (this.#abandoned >= MOST_ABANDONED) {
      const message = `${this.#abandoned} calls of tools hang in this process. Restart the service.`;
      const fault = new CallFault('unavailable', message);
      for (const index of calls.keys()) onSettled(index, { fault });
      return;
    }
    const slow: number[] = [];
    await this.#attempt(tool, calls, (index, settled) => {
      if (settled === undefined) slow.push(index);
      else onSettled(index, settled);
    });
    // If a batch hangs, a single one of its calls may be the cause.
    const isBatch = calls.length > 1;
    await Promise.all(
      slow.map(async (index) => {
        const call = calls[index];
        let end: Settled | undefined;
        if (isBatch && call !== undefined) {
          await this.#attempt(tool, [call], (_, settled) => {
            end = settled;
          });
        }
        onSettled(index, end ?? { fault: tooSlow(calls[index]?.runMs ?? 0) });
      }),
    );
  }

  /** @param onSettled hears of each call once: how it ended, or undefined where it ran too long */
  async #attempt(
    tool: string,
    calls: readonly PlacedCall[],
    onSettled: (index: number, settled: Settled | undefined) => void,
  ): Promise<void> {
    const limit = new AbortController();
    const runMs = Math.max(...calls.map((call) => call.runMs));
    const timer = setTimeout(() => limit.abort(tooSlow(runMs)), runMs);
    const attempts = calls.map(({ signal, ...call }) => ({
      ...call,
      signal: AbortSignal.any([signal, limit.signal]),
    }));
    const ends = attempts.map(({ signal }) => this.#endOf(signal));
    void this.#runner.run(tool, attempts, (index, settled) => ends[index]?.settle(settled));
    await Promise.all(
      ends.map(async ({ settled }, index) => {
        const end = await settled;
        const isSlow = limit.signal.aborted && calls[index]?.signal.aborted === false;
        onSettled(index, isSlow && 'fault' in end ? undefined : end);
      }),
    );
    clearTimeout(timer);
  }

  /** The end of a call: what the tool gives, or the call's signal, whichever comes first. */
  #endOf(signal: AbortSignal): { readonly settled: Promise<Settled>; settle(end: Settled): void } {
    let resolve: (settled: Settled) => void = () => {};
    const settled = new Promise<Settled>((given) => {
      resolve = given;
    });
    let isAbandoned = false;
    const abandon = (): void => {
      isAbandoned = true;
      this.#abandoned += 1;
      resolve({ fault: reasonOf(signal) });
    };
    if (signal.aborted) abandon();
    else signal.addEventListener('abort', abandon, { once: true });
    return {
      settled,
      settle: (end) => {
        signal.removeEventListener('abort', abandon);
        if (isAbandoned) this.#abandoned -= 1;
        isAbandoned = false;
        resolve(end);
      },
    };
  }
}

function tooSlow(runMs: number): CallFault {
  return new CallFault('deadline', `It ran for more than ${runMs / 1000} seconds.`);
}
