/** Speed of an engine: prefill, and decoding by how many sequences there are. */
import { timed } from '@saccade/core';
import type { ModelImage, SampleRequest, Sampler } from '@saccade/policy';
import type { DecodePoint } from './decode-table.ts';

/** A prompt to measure with: as it is in the rollouts that are planned. */
export interface MeasuredPrompt {
  readonly tokens: Int32Array;
  readonly images: readonly ModelImage[];
}

/** Options of `measureEngine`. */
export interface MeasureOptions {
  /** Sequences at a time, each a point of the table. */
  readonly sequences: readonly number[];
  /** Tokens that each samples for a point. */
  readonly tokens: number;
}

/** What was measured of an engine. */
export interface MeasuredEngine {
  readonly decode: readonly DecodePoint[];
  readonly prefillTokensPerSecond: number;
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
  { sequences, tokens }: MeasureOptions,
): Promise<MeasuredEngine> {
  const ask = (prompt: MeasuredPrompt, name: string, maxTokens: number) =>
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
  const decode: DecodePoint[] = [];
  for (const n of sequences) {
    const names = Array.from({ length: n }, (_, i) => `plan/decode-${n}/${i}`);
    const promptOf = (i: number) => prompts[i % prompts.length] as MeasuredPrompt;
    const first = await Promise.all(names.map((name, i) => ask(promptOf(i), name, 1)));
    const [, took] = await timed(() =>
      Promise.all(
        names.map((name, i) => {
          const { tokens: before, images } = promptOf(i);
          const own = Int32Array.from([...before, ...(first[i]?.tokens ?? [])]);
          return ask({ tokens: own, images }, name, tokens);
        }),
      ),
    );
    for (const name of names) sampler.release(name);
    decode.push([n, (n * tokens) / took]);
  }
  return { decode, prefillTokensPerSecond: computed / seconds };
}
