/**
 * SGLang: `/generate` with `input_ids`, images as `image_data`.
 *
 * As of SGLang 0.5 (its `io_struct`, `sampling_params` and multimodal processors): log-probs of the
 * sampled tokens come as `[logprob, id, text]` in `meta_info.output_token_logprobs`, after the
 * temperature unless the server runs with SGLANG_RETURN_ORIGINAL_LOGPROB; `no_stop_trim` keeps what
 * stopped it; `sampling_seed` counts where the server runs with --enable-deterministic-inference.
 * With raw images it decodes the ids to text and tokenizes that anew, which gives the same ids only
 * if they were the tokenizer's own to begin with: `return_prompt_token_ids` says what it made of
 * them.
 */
import { AnswerFields } from './answer-fields.ts';
import { collapsePlaceholders, type Dialect, filtersOf, oldestVersion } from './dialect.ts';
import { jsonWith, seedText } from './seed-text.ts';

const GENERATE = '/generate';

export const sglangDialect: Dialect = {
  name: 'sglang',
  reloadPath: '/update_weights_from_disk',
  remedies: {
    tokenIds: 'Use SGLang 0.4 or newer.',
    temperedLogprobs: 'Start SGLang without SGLANG_RETURN_ORIGINAL_LOGPROB.',
    truncatedLogprobs: 'Sample with topK 0, topP 1 and minP 0, or use vLLM.',
    seeds: 'Start SGLang with --enable-deterministic-inference.',
    images: 'It takes a multimodal model, and a version with return_prompt_token_ids.',
    reloading: 'Use SGLang 0.4 or newer.',
  },
  async generate(http, _model, request, signal) {
    const { images, maxTokens, stop, temperature, endOfTurn, ignoreEndOfTurn } = request;
    const sampling = {
      max_new_tokens: maxTokens,
      temperature,
      ...filtersOf(request),
      presence_penalty: 0,
      frequency_penalty: 0,
      repetition_penalty: 1,
      stop,
      no_stop_trim: true,
      stop_token_ids: ignoreEndOfTurn ? [] : [endOfTurn],
      ignore_eos: ignoreEndOfTurn,
      skip_special_tokens: false,
    };
    const hasImages = images.length > 0;
    const body = {
      input_ids: hasImages ? collapsePlaceholders(request) : Array.from(request.tokens),
      ...(hasImages && { image_data: images.map(({ dataUrl }) => dataUrl) }),
      return_logprob: true,
      return_prompt_token_ids: true,
      session_id: request.session,
      stream: false,
    };
    const params = jsonWith(sampling, 'sampling_seed', seedText(request.seed));
    const answer = await http.post(GENERATE, jsonWith(body, 'sampling_params', params), signal);
    const fields = new AnswerFields(answer, `${http.url}${GENERATE}`);
    const about = fields.at('meta_info');
    const sampled = about.at('output_token_logprobs').list();
    const prompt = [fields, about].find((one) => one.has('prompt_token_ids'));
    const spans = about.has('weight_versions') ? about.at('weight_versions').list() : [];
    const weightVersion = oldestVersion([
      ...spans.map((span) => span.at('version').raw()),
      ...(spans.length === 0 ? [about.at('weight_version').raw()] : []),
    ]);
    const reason = about.at('finish_reason').at('type').text();
    return {
      tokens: sampled.map((one) => one.at(1).token()),
      logprobs: sampled.map((one) => one.at(0).number()),
      reason: reason === 'length' ? 'length' : reason === 'abort' ? 'abort' : 'stop',
      ...(prompt && {
        promptTokens: prompt
          .at('prompt_token_ids')
          .list()
          .map((one) => one.token()),
      }),
      ...(weightVersion !== undefined && { weightVersion }),
    };
  },
};
