/**
 * The way every subcommand measures: the load of the machine before and after, a stop by Ctrl-C or
 * SIGTERM that shows what there is, and the result where the flags say.
 */
import { constants } from 'node:os';
import { type ResultFlags, writeResult } from './commands/shared.ts';
import { describeLoad, machineLoad, warningOf } from './machine-load.ts';
import { showProgress } from './progress.ts';

/** Offers what has been measured so far, in a form that can be shown; replaces what was offered before. */
type Keep<Result> = (soFar: Result) => void;

/** What one subcommand measures, and how it is shown. */
export interface Measurement<Result> {
  /** Name of the file in the machine's folder. */
  readonly kind: string;
  /**
   * Measures until it is done or the signal is aborted. Then it returns or throws the signal's reason,
   * soon: what it kept last is the result.
   */
  measure(signal: AbortSignal, keep: Keep<Result>): Promise<Result | undefined>;
  show(result: Result): void;
  /** What is written with `--json` and `--record`, beside the load of the machine. */
  record(result: Result): object;
  /** Lets go of what measuring opened, after all else. */
  close?(): Promise<void>;
}

/** Where signals come from, and what they end; tests give their own. */
export interface SignalSource {
  on(signal: StopSignal, listener: (signal: StopSignal) => void): unknown;
  off(signal: StopSignal, listener: (signal: StopSignal) => void): unknown;
  exit(status: number): void;
  exitCode?: number | string | null | undefined;
}

type StopSignal = 'SIGINT' | 'SIGTERM';
const STOPS: readonly StopSignal[] = ['SIGINT', 'SIGTERM'];

/** 130 and 143, as shells have it. */
const statusOf = (signal: StopSignal): number => 128 + constants.signals[signal];

/** Measures, shows and stores. A stop sets the exit status: 130 for SIGINT, 143 for SIGTERM. */
export async function runMeasurement<Result>(
  flags: ResultFlags,
  measurement: Measurement<Result>,
  signals: SignalSource = process,
): Promise<void> {
  const before = await machineLoad();
  console.error(describeLoad('before', before));
  const warning = warningOf(before);
  if (warning !== undefined) console.error(warning);
  const stop = new AbortController();
  let stoppedBy: StopSignal | undefined;
  let kept: Result | undefined;
  const show = (result: Result): void => {
    if (stoppedBy !== undefined) {
      console.error(`Stopped by ${stoppedBy}: what was measured until then is shown.`);
    }
    measurement.show(result);
  };
  const onSignal = (signal: StopSignal): void => {
    showProgress('');
    if (stoppedBy !== undefined) {
      if (kept !== undefined) show(kept);
      signals.exit(statusOf(signal));
      return;
    }
    stoppedBy = signal;
    console.error(`${signal}: stopping after this measurement; once more stops at once.`);
    stop.abort();
  };
  for (const name of STOPS) signals.on(name, onSignal);
  try {
    const result = await untilStopped(stop.signal, () =>
      measurement.measure(stop.signal, (soFar) => {
        kept = soFar;
      }),
    );
    showProgress('');
    const shown = result ?? kept;
    if (shown === undefined) {
      console.error(`Stopped by ${stoppedBy} before anything was measured.`);
    } else {
      show(shown);
      const after = await machineLoad();
      console.error(describeLoad('after', after));
      writeResult(flags, measurement.kind, {
        ...measurement.record(shown),
        load: { before, after },
        ...(stoppedBy !== undefined && { stoppedBy }),
      });
    }
    if (stoppedBy !== undefined) signals.exitCode = statusOf(stoppedBy);
  } finally {
    for (const name of STOPS) signals.off(name, onSignal);
    await measurement.close?.();
  }
}

/** The result of the work; nothing where it threw the reason of the stop. */
async function untilStopped<Result>(
  signal: AbortSignal,
  work: () => Promise<Result | undefined>,
): Promise<Result | undefined> {
  try {
    return await work();
  } catch (error) {
    if (signal.aborted && error === signal.reason) return undefined;
    throw error;
  }
}
