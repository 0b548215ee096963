/** Speed of an engine: prefill, and decoding by how many sequences there are. */
import { timed } from '@saccade/core';
import type { ModelImage, SampleRequest, Sampler } from '@saccade/policy';
import type { DecodePoint } from './decode-table.ts';
import { fitLine } from './fit-line.ts';
import { median } from './median.ts';

/** Measurements of each point, of which the median counts. */
const ROUNDS = 3;

/** A prompt to measure with: as it is in the rollouts that are planned. */
export interface MeasuredPrompt {
  readonly tokens: Int32Array;
  readonly images: readonly ModelImage[];
}

/** Seconds that a process has used: of its main thread, and of all processors. */
export interface UsedSeconds {
  readonly mainThread: number;
  readonly processors: number;
}

/** Options of `measureEngine`. */
export interface MeasureOptions {
  /** Sequences at a time, each a point of the table. */
  readonly sequences: readonly number[];
  /** Tokens that each samples for a point. */
  readonly tokens: number;
  /** What this process has used; for an engine in it. */
  readonly usage?: () => UsedSeconds;
}

/** What was measured of an engine. */
export interface MeasuredEngine {
  readonly decode: readonly DecodePoint[];
  readonly prefillTokensPerSecond: number;
  /** Processors, and share of the main thread, that it kept busy; with `usage`. */
  readonly processors?: number;
  readonly mainThread?: number;
}

/**
 * Samples from an engine of any kind, ours or one behind HTTP, that nobody else uses at the time.
 * The first half of the prompts warms it up, the other half measures prefill.
 *
 * @param prompts at least 2, all different
 */
export async function measureEngine(
  sampler: Pick<Sampler, 'sample' | 'release'>,
  prompts: readonly MeasuredPrompt[],
  { sequences, tokens, usage }: MeasureOptions,
): Promise<MeasuredEngine> {
  const ask = asking(sampler);
  const half = Math.ceil(prompts.length / 2);
  const warm = prompts.slice(0, half);
  const cold = prompts.slice(half);
  const prefill = (some: readonly MeasuredPrompt[], name: string) =>
    Promise.all(some.map((prompt, i) => ask(prompt, `plan/${name}/${i}`, 1)));
  await prefill(warm, 'warm');
  const [, seconds] = await timed(() => prefill(cold, 'cold'));
  const computed = cold.reduce((sum, prompt) => sum + prompt.tokens.length, 0);
  for (const [name, some] of Object.entries({ warm, cold })) {
    for (const i of some.keys()) sampler.release(`plan/${name}/${i}`);
  }
  let all = 0;
  const used = { mainThread: 0, processors: 0 };
  const rates = new Map<number, number[]>();
  // Round after round: a machine is slower at times, and then for several points.
  for (let round = 0; round < ROUNDS; round++) {
    for (const n of sequences) {
      const names = Array.from({ length: n }, (_, i) => `plan/decode-${n}-${round}/${i}`);
      const promptOf = (i: number) => prompts[i % prompts.length] as MeasuredPrompt;
      await Promise.all(names.map((name, i) => ask(promptOf(i), name, 1)));
      const before = usage?.();
      const [, took] = await timed(() =>
        Promise.all(
          names.map((name, i) => {
            const { tokens: before, images } = promptOf(i);
            // Not what it sampled: that may be the placeholder of an image, which engines refuse.
            const own = Int32Array.from([...before, before.at(-1) ?? 1]);
            return ask({ tokens: own, images }, name, tokens);
          }),
        ),
      );
      const after = usage?.();
      if (before !== undefined && after !== undefined) {
        all += took;
        used.mainThread += after.mainThread - before.mainThread;
        used.processors += after.processors - before.processors;
      }
      for (const name of names) sampler.release(name);
      rates.set(n, [...(rates.get(n) ?? []), (n * tokens) / took]);
    }
  }
  const decode = [...rates].map(([n, measured]): DecodePoint => [n, median(measured)]);
  return {
    decode,
    prefillTokensPerSecond: computed / seconds,
    ...(all > 0 && {
      processors: used.processors / all,
      mainThread: Math.min(1, used.mainThread / all),
    }),
  };
}

function asking(sampler: Pick<Sampler, 'sample'>) {
  return (prompt: MeasuredPrompt, name: string, maxTokens: number) =>
    sampler.sample({
      ...prompt,
      maxTokens,
      stop: [],
      ignoreEndOfTurn: true,
      temperature: 1,
      topK: 0,
      topP: 1,
      minP: 0,
      seed: [1, 1],
      conversation: name,
    } satisfies SampleRequest);
}

/**
 * How much less a prompt takes for others that ask for it at the same time than for the first, from 0
 * to 1: an engine may keep the features of its images, or all of it.
 *
 *   1 − (s − d / n) / (n − 1) / p
 *
 * with the seconds s of one prompt n times, d of n different ones with images that it has seen, and p of
 * one that it has not.
 *
 * @param prompts n, at least 2, all different
 * @param prefillTokensPerSecond of prompts that it has not seen
 */
export async function promptSharing(
  sampler: Pick<Sampler, 'sample' | 'release'>,
  prompts: readonly MeasuredPrompt[],
  prefillTokensPerSecond: number,
): Promise<number> {
  const ask = asking(sampler);
  let asked = 0;
  const secondsOf = async (some: readonly MeasuredPrompt[]): Promise<number> => {
    const names = some.map((_, i) => `plan/prompts-${asked}/${i}`);
    const [, seconds] = await timed(() =>
      Promise.all(some.map((prompt, i) => ask(prompt, names[i] as string, 1))),
    );
    for (const name of names) sampler.release(name);
    return seconds;
  };
  // No cache has seen a prompt that begins otherwise. Its last tokens are text, whatever its images are.
  const fresh = ({ tokens, images }: MeasuredPrompt): MeasuredPrompt => {
    const own = Int32Array.from(tokens);
    const text = tokens.subarray(-8);
    asked++;
    own[0] = text[asked % text.length] ?? 1;
    own[1] = text[Math.floor(asked / text.length) % text.length] ?? 1;
    return { tokens: own, images };
  };
  let [same, different] = [0, 0];
  const some = prompts.slice(0, 4);
  // Their images are known from then on.
  await secondsOf(prompts);
  for (const prompt of some) {
    const one = fresh(prompt);
    same += await secondsOf(prompts.map(() => one));
    different += await secondsOf(prompts.map(fresh));
  }
  const n = prompts.length;
  const again = (same - different / n) / (n - 1) / some.length;
  const tokens = prompts.reduce((sum, prompt) => sum + prompt.tokens.length, 0) / n;
  return Math.min(1, Math.max(0, 1 - (again * prefillTokensPerSecond) / tokens));
}

/** What requests to an engine elsewhere cost beside their tokens, in seconds. */
export interface RequestCosts {
  /** The way and back of one alone. */
  readonly requestSeconds: number;
  /** Of each of many at a time, one after the other. */
  readonly secondsPerRequest: number;
}

/**
 * Compares an engine elsewhere with the same one in this process: both sampled k tokens for n
 * sequences, and the difference is
 *
 *   n·k/r_there(n) − n·k/r_here(n) = requestSeconds + n · secondsPerRequest     least squares, both ≥ 0
 */
export function requestCosts(
  here: Pick<MeasuredEngine, 'decode'>,
  there: Pick<MeasuredEngine, 'decode'>,
  tokens: number,
): RequestCosts {
  const points = there.decode.flatMap(([n, rate]) => {
    const own = here.decode.find(([count]) => count === n)?.[1];
    return own === undefined
      ? []
      : [{ tokens: n, seconds: Math.max(0, (n * tokens) / rate - (n * tokens) / own) }];
  });
  const { fixed, slope } = fitLine(points);
  return { requestSeconds: fixed, secondsPerRequest: slope };
}
