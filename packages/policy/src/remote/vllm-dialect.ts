/**
 * vLLM: `/v1/completions` with token ids for a prompt, and `/inference/v1/generate` where there are
 * images, which completions do not take.
 *
 * As of vLLM 0.30 (its `entrypoints`): `prompt` may be a list of ids; `return_token_ids` adds
 * `prompt_token_ids` and `token_ids` to a choice; `logprobs: 0` gives the sampled token's alone;
 * token ids keep the whole stop string, whether or not the text does. `/inference/v1/generate`
 * takes `token_ids` with one placeholder per image and the images as `content_parts`, expands the
 * placeholders, and with `return_token_ids` says what it made of them. Options missing from a
 * request come from the model's generation_config.json, so all that affect the distribution are
 * sent. It applies min_p before top_k and top_p, the others after it.
 */
import { AnswerFields } from './answer-fields.ts';
import {
  collapsePlaceholders,
  type Dialect,
  type EngineAnswer,
  type EngineRequest,
  filtersOf,
  oldestVersion,
} from './dialect.ts';
import type { EngineHttp } from './engine-http.ts';
import { jsonWith, seedText } from './seed-text.ts';

const COMPLETIONS = '/v1/completions';
const GENERATE = '/inference/v1/generate';

export const vllmDialect: Dialect = {
  name: 'vllm',
  reloadPath: '/collective_rpc',
  remedies: {
    tokenIds: 'Use vLLM 0.10.2 or newer.',
    temperedLogprobs: 'Start vLLM with --logprobs-mode processed_logprobs.',
    truncatedLogprobs: 'Start vLLM with --logprobs-mode processed_logprobs.',
    seeds: 'Start vLLM with VLLM_BATCH_INVARIANT=1.',
    images: `It takes POST ${GENERATE} with content_parts, of vLLM 0.30 or newer.`,
    reloading: 'Start vLLM with VLLM_SERVER_DEV_MODE=1.',
  },
  async generate(http, model, request, signal) {
    return request.images.length > 0
      ? await generate(http, model, request, signal)
      : await complete(http, model, request, signal);
  },
};

function samplingOf(request: EngineRequest): object {
  const { maxTokens, stop, temperature, endOfTurn, ignoreEndOfTurn } = request;
  return {
    max_tokens: maxTokens,
    temperature,
    ...filtersOf(request),
    presence_penalty: 0,
    frequency_penalty: 0,
    repetition_penalty: 1,
    stop,
    include_stop_str_in_output: true,
    // The model's own list of ends may be another than the processor's.
    stop_token_ids: ignoreEndOfTurn ? [] : [endOfTurn],
    ignore_eos: ignoreEndOfTurn,
    skip_special_tokens: false,
    logprobs: 0,
  };
}

async function complete(
  http: EngineHttp,
  model: string,
  request: EngineRequest,
  signal: AbortSignal | undefined,
): Promise<EngineAnswer> {
  const body = {
    model,
    prompt: Array.from(request.tokens),
    ...samplingOf(request),
    n: 1,
    stream: false,
    return_token_ids: true,
    return_tokens_as_token_ids: true,
    session_id: request.session,
  };
  const answer = await http.post(
    COMPLETIONS,
    jsonWith(body, 'seed', seedText(request.seed)),
    signal,
  );
  const choice = new AnswerFields(answer, `${http.url}${COMPLETIONS}`).at('choices').at(0);
  const logprobs = choice.at('logprobs');
  // Servers before `return_token_ids` name tokens in the log-probs alone.
  const tokens = choice.has('token_ids')
    ? tokensOf(choice.at('token_ids'))
    : logprobs.at('tokens').list().map(idOfName);
  return {
    tokens,
    logprobs: logprobs
      .at('token_logprobs')
      .list()
      .map((one) => one.number()),
    reason: reasonOf(choice),
    ...(choice.has('prompt_token_ids') && {
      promptTokens: tokensOf(choice.at('prompt_token_ids')),
    }),
    ...versionOf(choice),
  };
}

async function generate(
  http: EngineHttp,
  model: string,
  request: EngineRequest,
  signal: AbortSignal | undefined,
): Promise<EngineAnswer> {
  const body = {
    model,
    token_ids: collapsePlaceholders(request),
    content_parts: request.images.map(({ dataUrl }) => ({
      type: 'image_url',
      image_url: { url: dataUrl },
    })),
    return_token_ids: true,
    stream: false,
    session_id: request.session,
  };
  const sampling = jsonWith(samplingOf(request), 'seed', seedText(request.seed));
  const answer = await http.post(GENERATE, jsonWith(body, 'sampling_params', sampling), signal);
  const fields = new AnswerFields(answer, `${http.url}${GENERATE}`);
  const choice = fields.at('choices').at(0);
  return {
    tokens: tokensOf(choice.at('token_ids')),
    logprobs: choice
      .at('logprobs')
      .at('content')
      .list()
      .map((one) => one.at('logprob').number()),
    reason: reasonOf(choice),
    ...(fields.has('prompt_token_ids') && {
      promptTokens: tokensOf(fields.at('prompt_token_ids')),
    }),
    ...versionOf(choice),
  };
}

function tokensOf(field: AnswerFields): readonly number[] {
  return field.list().map((one) => one.token());
}

/** `token_id:123` is 123. */
function idOfName(field: AnswerFields): number {
  const digits = /^token_id:(\d+)$/.exec(field.text())?.[1];
  return new AnswerFields(
    digits === undefined ? field.raw() : Number(digits),
    'choices[0].logprobs.tokens',
  ).token();
}

function reasonOf(choice: AnswerFields): EngineAnswer['reason'] {
  const reason = choice.at('finish_reason').text();
  return reason === 'length' ? 'length' : reason === 'abort' ? 'abort' : 'stop';
}

/** Spans of output tokens by the version of the weights that gave them. */
function versionOf(choice: AnswerFields): { readonly weightVersion?: string } {
  if (!choice.has('weight_versions')) return {};
  const versions = choice
    .at('weight_versions')
    .list()
    .map((span) => span.at('version').raw() ?? span.at('weight_version').raw());
  const weightVersion = oldestVersion(versions);
  return weightVersion === undefined ? {} : { weightVersion };
}
