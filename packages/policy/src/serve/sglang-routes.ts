/** The routes of SGLang: generation, model information, and new weights. */

import { messageOf } from '@saccade/core';
import { callOf, readJson } from '@saccade/http/service';
import type { Hono } from 'hono';
import { z } from 'zod';
import type { PromptReader } from './prompt.ts';
import { checkEnds, seedOf, sglangBody, stopsOf, truncationOf } from './request-body.ts';
import type { ServedEngine } from './served-engine.ts';
import { identityOf, orAborted, trimmed } from './vllm-routes.ts';

interface Routed {
  readonly engine: ServedEngine;
  readonly prompts: PromptReader;
  readonly model: string;
}

export function addSglangRoutes(app: Hono, { engine, prompts, model }: Routed): void {
  const { endOfTurn } = engine.policy.processor;
  const about = () => ({
    model_path: model,
    tokenizer_path: model,
    is_generation: true,
    weight_version: engine.weightVersion,
  });
  app.get('/get_model_info', (context) => context.json(about()));
  app.get('/model_info', (context) => context.json(about()));

  app.post('/generate', async (context) => {
    const { body, text } = await readJson(context, sglangBody);
    const params = body.sampling_params ?? {};
    checkEnds(params.stop_token_ids, endOfTurn);
    const given = body.input_ids ?? Array.from(prompts.textTokens(body.text ?? ''));
    const data = body.image_data ?? [];
    const urls = (typeof data === 'string' ? [data] : data).map(asDataUrl);
    const { tokens, images } = await prompts.withImages(given, urls);
    const stop = stopsOf(params.stop);
    const result = await orAborted(engine, () =>
      engine.sample({
        tokens,
        images,
        maxTokens: params.max_new_tokens ?? 128,
        temperature: params.temperature ?? 1,
        ...truncationOf(params),
        stop,
        ignoreEndOfTurn: params.ignore_eos ?? false,
        seed: seedOf(text, 'sampling_seed'),
        ...identityOf({ session_id: body.session_id, request_id: body.rid }),
        signal: callOf(context).signal,
      }),
    );
    const sampled = Array.from(result.tokens);
    const reason = result.isAborted
      ? { type: 'abort', message: 'Aborted' }
      : result.finish === 'length'
        ? { type: 'length', length: sampled.length }
        : {
            type: 'stop',
            matched:
              result.finish === 'endOfTurn'
                ? endOfTurn
                : stop.find((one) => result.text.includes(one)),
          };
    const logprobs = sampled.map((token, i) => [result.logprobs[i], token, null]);
    return context.json({
      text: params.no_stop_trim ? result.text : trimmed(result.text, stop),
      output_ids: sampled,
      ...(body.return_prompt_token_ids && { prompt_token_ids: Array.from(tokens) }),
      meta_info: {
        id: body.rid ?? crypto.randomUUID(),
        finish_reason: reason,
        prompt_tokens: tokens.length,
        completion_tokens: sampled.length,
        weight_version: result.weightVersion,
        ...(body.return_logprob && { output_token_logprobs: logprobs }),
      },
    });
  });

  app.post('/update_weights_from_disk', async (context) => {
    const schema = z.object({
      model_path: z.string(),
      weight_version: z.string().nullish(),
      abort_all_requests: z.boolean().nullish(),
    });
    const { body } = await readJson(context, schema);
    if (body.abort_all_requests) engine.abort();
    try {
      await engine.reload(body.model_path, body.weight_version ?? undefined);
    } catch (error) {
      const message = messageOf(error);
      return context.json({ success: false, message, num_paused_requests: 0 }, 400);
    }
    return context.json({ success: true, message: 'Succeeded.', num_paused_requests: 0 });
  });
  app.post('/pause_generation', async (context) => {
    const { body } = await readJson(context, z.object({ mode: z.string().nullish() }));
    await engine.pause((body.mode ?? 'abort') === 'abort' ? 'abort' : 'wait');
    return context.json({ message: 'Generation paused.', status: 'ok' });
  });
  app.post('/continue_generation', (context) => {
    engine.resume();
    return context.json({ message: 'Generation continued.', status: 'ok' });
  });
  app.post('/abort_request', async (context) => {
    const schema = z.object({ rid: z.string().nullish(), abort_all: z.boolean().nullish() });
    const { body } = await readJson(context, schema);
    if (body.abort_all) engine.abort();
    else if (body.rid != null) engine.abort(body.rid);
    return context.body(null, 200);
  });
  app.post('/flush_cache', (context) => {
    engine.forget();
    return context.text('Cache flushed.');
  });
}

/** SGLang takes bare base64 too. */
function asDataUrl(data: string): string {
  return data.startsWith('data:') ? data : `data:image/png;base64,${data}`;
}
