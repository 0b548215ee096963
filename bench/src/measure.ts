/** Times repeated launches with benny, and keeps benny quiet. */
import { add, suite } from 'benny';
import { timeOnce } from './time-once.ts';

export interface MeasureOptions {
  /** Samples wanted. Fewer, but at least 5, where a single one takes long. */
  readonly rounds: number;
  /** Time to spend on the case, about. */
  readonly seconds: number;
}

/** A sample lasts at least this: benny's own share of one is up to 0.1 ms. */
const LEAST_SAMPLE_SECONDS = 0.02;
const LEAST_ROUNDS = 5;

/**
 * Seconds of one launch, once per sample.
 *
 * Many short launches are queued before one wait, as a model queues its layers; what is timed is
 * what one of them adds.
 *
 * @param launch  queues the work once
 * @param wait    resolves when all that was queued has run
 */
export async function measure(
  launch: () => void,
  wait: () => Promise<void>,
  { rounds, seconds }: MeasureOptions,
): Promise<readonly number[]> {
  const once = await timeOnce(launch, wait, 1);
  const launches = Math.max(1, Math.ceil(LEAST_SAMPLE_SECONDS / once));
  const perSample = once * launches;
  const samples = Math.min(rounds, Math.max(LEAST_ROUNDS, Math.floor(seconds / perSample)));
  let failure: unknown;
  let isAsked = false;
  const run = async (): Promise<void> => {
    // Benny calls once without waiting, to see that it gets a promise.
    if (!isAsked) {
      isAsked = true;
      return;
    }
    try {
      for (let i = 0; i < launches; i++) launch();
      await wait();
    } catch (error) {
      // Benny waits for ever on a case that rejects.
      failure ??= error;
    }
  };
  const summary = await withoutConsole(() =>
    suite(
      'launches',
      // benchmark.js takes samples until both are reached; a sample is one run at least.
      add('launch', async () => run, { minSamples: samples, maxTime: 0, minTime: 1e-9 }),
    ),
  );
  if (failure !== undefined) throw failure;
  const [result] = summary.results;
  return (result?.details.sampleResults ?? []).map((time) => time / launches);
}

/** Benny announces every suite on the console and has no option against it. */
async function withoutConsole<T>(work: () => Promise<T>): Promise<T> {
  const { log } = console;
  console.log = () => {};
  try {
    return await work();
  } finally {
    console.log = log;
  }
}
