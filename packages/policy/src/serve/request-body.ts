/** Bodies of requests: their schemas, and 64-bit seeds. */
import { z } from 'zod';
import { seedWords } from '../remote/seed-text.ts';
import type { Truncation } from '../truncation.ts';
import { refused } from './refusal.ts';

type Maybe<T> = T | null | undefined;

/** The filters, as both families name them; a top_k of −1, 0 or SGLang's 2³⁰ keeps all. */
interface Filters {
  readonly top_k?: Maybe<number>;
  readonly top_p?: Maybe<number>;
  readonly min_p?: Maybe<number>;
}

/** How to sample, as vLLM has it in both of its routes. */
export interface VllmSampling extends Filters {
  readonly max_tokens?: Maybe<number>;
  readonly temperature?: Maybe<number>;
  readonly stop?: Maybe<string | string[]>;
  readonly stop_token_ids?: Maybe<number[]>;
  readonly include_stop_str_in_output?: Maybe<boolean>;
  readonly ignore_eos?: Maybe<boolean>;
  readonly logprobs?: Maybe<number>;
}

/** Identifies the client, in both routes. */
interface VllmIdentity {
  readonly session_id?: Maybe<string>;
  readonly request_id?: Maybe<string>;
}

export interface CompletionBody extends VllmSampling, VllmIdentity {
  readonly prompt: string | number[];
  readonly return_token_ids?: Maybe<boolean>;
}

export interface GenerateBody extends VllmIdentity {
  readonly token_ids: number[];
  readonly content_parts?: Maybe<({ image_url: { url: string } } | { url: string })[]>;
  readonly sampling_params: VllmSampling;
  readonly return_token_ids?: Maybe<boolean>;
}

export interface SglangBody {
  readonly text?: Maybe<string>;
  readonly input_ids?: Maybe<number[]>;
  readonly image_data?: Maybe<string | string[]>;
  readonly sampling_params?: Maybe<
    Filters & {
      readonly max_new_tokens?: Maybe<number>;
      readonly temperature?: Maybe<number>;
      readonly stop?: Maybe<string | string[]>;
      readonly stop_token_ids?: Maybe<number[]>;
      readonly no_stop_trim?: Maybe<boolean>;
      readonly ignore_eos?: Maybe<boolean>;
    }
  >;
  readonly return_logprob?: Maybe<boolean>;
  readonly return_prompt_token_ids?: Maybe<boolean>;
  readonly session_id?: Maybe<string>;
  readonly rid?: Maybe<string>;
}

/**
 * The seed of a body, all 64 bits of it: `JSON.parse` keeps 53. Quotes within strings are escaped,
 * so what looks like the key is the key.
 */
export function seedOf(text: string, key: 'seed' | 'sampling_seed'): readonly [number, number] {
  const digits = new RegExp(`(?<!\\\\)"${key}"\\s*:\\s*(-?\\d{1,20})\\b`).exec(text)?.[1];
  return digits === undefined
    ? [Math.floor(Math.random() * 2 ** 32), Math.floor(Math.random() * 2 ** 32)]
    : seedWords(digits);
}

const ids = z.array(z.int().min(0)).min(1);
export const optional = <T extends z.ZodType>(schema: T) => schema.nullish();
/** A field that would change the distribution, allowed only at the values that do not. */
const neutral = (...values: readonly number[]) => {
  const message = `only ${values.join(' or ')} is served: tokens are sampled from all of the model`;
  return optional(z.number().refine((value) => values.includes(value), { message }));
};

export const shared = {
  top_k: optional(z.int().min(-1)),
  top_p: optional(z.number().gt(0).max(1)),
  min_p: optional(z.number().min(0).max(1)),
  presence_penalty: neutral(0),
  frequency_penalty: neutral(0),
  repetition_penalty: neutral(1),
  n: neutral(1),
};
export const temperature = optional(z.number().min(0));
export const stop = optional(z.union([z.string(), z.array(z.string())]));
const notStreamed = optional(z.literal(false, { message: 'answers are not streamed; send false' }));

const vllmSampling = {
  ...shared,
  max_tokens: optional(z.int().min(1)),
  temperature,
  stop,
  stop_token_ids: optional(z.array(z.int())),
  include_stop_str_in_output: optional(z.boolean()),
  ignore_eos: optional(z.boolean()),
  logprobs: optional(z.int().min(-1)),
};

export const completionBody: z.ZodType<CompletionBody> = z.object({
  ...vllmSampling,
  model: optional(z.string()),
  prompt: z.union([ids, z.string()]),
  stream: notStreamed,
  return_token_ids: optional(z.boolean()),
  session_id: optional(z.string()),
  request_id: optional(z.string()),
});

export const generateBody: z.ZodType<GenerateBody> = z.object({
  model: optional(z.string()),
  token_ids: ids,
  content_parts: optional(
    z.array(
      z.union([
        z.object({ type: z.literal('image_url'), image_url: z.object({ url: z.string() }) }),
        z.object({ type: z.literal('image_url'), url: z.string() }),
      ]),
    ),
  ),
  sampling_params: z.object(vllmSampling),
  return_token_ids: optional(z.boolean()),
  stream: notStreamed,
  session_id: optional(z.string()),
  request_id: optional(z.string()),
});

export const sglangBody: z.ZodType<SglangBody> = z
  .object({
    text: optional(z.string()),
    input_ids: optional(ids),
    image_data: optional(z.union([z.string(), z.array(z.string())])),
    sampling_params: optional(
      z.object({
        ...shared,
        max_new_tokens: optional(z.int().min(1)),
        temperature,
        stop,
        stop_token_ids: optional(z.array(z.int())),
        no_stop_trim: optional(z.boolean()),
        ignore_eos: optional(z.boolean()),
      }),
    ),
    return_logprob: optional(z.boolean()),
    return_prompt_token_ids: optional(z.boolean()),
    stream: notStreamed,
    session_id: optional(z.string()),
    rid: optional(z.string()),
  })
  .refine(({ text, input_ids }) => (text == null) !== (input_ids == null), {
    message: 'give either text or input_ids',
  });

/** The filters of a body as the engine takes them. */
export function truncationOf({ top_k, top_p, min_p }: Filters): Required<Truncation> {
  const ranks = top_k ?? 0;
  const topK = ranks < 0 || ranks >= 2 ** 30 ? 0 : ranks;
  return { topK, topP: top_p ?? 1, minP: min_p ?? 0 };
}

/** Stop strings as a list. */
export function stopsOf(stop: string | readonly string[] | null | undefined): readonly string[] {
  if (stop === null || stop === undefined) return [];
  return (typeof stop === 'string' ? [stop] : stop).filter((one) => one !== '');
}

/** @throws Refusal for ends that are not the turn's */
export function checkEnds(
  stopTokens: readonly number[] | null | undefined,
  endOfTurn: number,
): void {
  const other = stopTokens?.find((token) => token !== endOfTurn);
  if (other === undefined) return;
  throw refused(`A turn ends with token ${endOfTurn} alone; ${other} cannot stop it.`);
}
